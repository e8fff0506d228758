import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase58Encoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import type { Cluster } from "./cluster.ts";
import { describeError, RpcError } from "./errors.ts";
import type { SolanaWallet } from "./keys.ts";
import { signatureOf } from "./wire.ts";

const SYSTEM_PROGRAM = address("11111111111111111111111111111111");
/** The system program's instruction that moves lamports. */
const TRANSFER = 2;
const INTERNAL_ERROR = -32_603;

/** Gives lamports away. */
export interface Faucet {
  /**
   * Sends lamports to an address.
   * @returns the signature of the transfer
   * @throws RpcError when it has not enough
   */
  drop(to: Address, lamports: bigint): Promise<string>;
}

/** A faucet that pays from a funded wallet. */
export async function createFaucet(cluster: Cluster, wallet: SolanaWallet): Promise<Faucet> {
  const secret = Uint8Array.from(getBase58Encoder().encode(wallet.secretKey));
  const signer = await createKeyPairSignerFromBytes(secret);
  let dropped = 0n;
  return {
    async drop(to, lamports) {
      const lifetime = cluster.slots.latestBlockhash("processed");
      const message = pipe(
        createTransactionMessage({ version: 0 }),
        (draft) => setTransactionMessageFeePayerSigner(signer, draft),
        (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
        (draft) => appendTransactionMessageInstruction(transfer(signer, to, lamports), draft),
        // Two equal drops within a slot would be one transaction.
        (draft) =>
          appendTransactionMessageInstruction(transfer(signer, signer.address, ++dropped), draft),
      );
      const transaction = await signTransactionMessageWithSigners(message);
      const error = cluster.send(transaction);
      if (error === null) return signatureOf(transaction);
      throw new RpcError(INTERNAL_ERROR, `airdrop failed: ${describeError(error)}`);
    },
  };
}

function transfer(from: KeyPairSigner, to: Address, lamports: bigint): Instruction {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, TRANSFER, true);
  view.setBigUint64(4, lamports, true);
  return {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: from.address, role: AccountRole.WRITABLE_SIGNER },
      { address: to, role: AccountRole.WRITABLE },
    ],
    data,
  };
}
