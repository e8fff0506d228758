import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase58Decoder,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { type Hex, hexToBytes, slice } from "viem";
import { solanaDevnet } from "../../chains/networks/solana.ts";
import { sandboxAccounts } from "../accounts.ts";
import { nodeRpc } from "../rpc.ts";
import { associatedTokenAddress } from "../solana/genesis.ts";
import { solanaMints } from "../solana/mints.ts";
import { tokenPrograms } from "../solana/tokenLayout.ts";
import type { AttestedChain } from "./ledger.ts";
import { hookDataOf, readField } from "./sourceMessage.ts";

const SYSTEM_PROGRAM = address("11111111111111111111111111111111");
const ATA_PROGRAM = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
/** Rent of a nonce's account, lamports. */
const NONCE_LAMPORTS = 953_520n;
/** Position of the owner in the hook data: after the frame and the flag. */
const HOOK_OWNER_OFFSET = 33;

/**
 * The local Solana cluster as a destination. CCTP's programs cannot run there, so the forwarder's
 * delivery is made of what they do: the recipient's account is made where missing, the mint's
 * authority mints, and the nonce's account comes to be and belongs to the transmitter.
 * @param url - of the local node
 */
export function attestedSolanaChain(url: string): AttestedChain {
  const rpc = nodeRpc(url);
  const transmitter = address(solanaDevnet.cctp?.messageTransmitter ?? "");

  async function deliver(message: Hex): Promise<string> {
    const faucet = await faucetSigner();
    const owner = base58(slice(hookDataOf(message), HOOK_OWNER_OFFSET));
    const account = await associatedTokenAddress(
      owner,
      solanaMints.usdc,
      tokenPrograms["spl-token"],
    );
    if (account !== base58(readField(message, "mintRecipient"))) {
      throw new Error("the hook's owner is not the owner of the mint recipient");
    }
    const nonce = Uint8Array.from(hexToBytes(readField(message, "nonce")));
    const [nonceAccount] = await getProgramDerivedAddress({
      programAddress: transmitter,
      seeds: ["used_nonce", nonce],
    });
    const [amount, fee] = [readField(message, "amount"), readField(message, "feeExecuted")];
    const signature = await send(faucet, [
      createTokenAccount(faucet, account, owner),
      mintTo(faucet, account, BigInt(amount) - BigInt(fee)),
      transferLamports(faucet, nonceAccount, NONCE_LAMPORTS),
    ]);
    await rpc.call("sandbox_assignAccount", [nonceAccount, transmitter]);
    return signature;
  }

  async function send(payer: KeyPairSigner, instructions: readonly Instruction[]) {
    const { value } = (await rpc.call("getLatestBlockhash", [{ commitment: "confirmed" }])) as {
      value: { blockhash: Blockhash; lastValidBlockHeight: number };
    };
    const lifetime = {
      blockhash: value.blockhash,
      lastValidBlockHeight: BigInt(value.lastValidBlockHeight),
    };
    const transaction = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (draft) => setTransactionMessageFeePayerSigner(payer, draft),
        (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
        (draft) => appendTransactionMessageInstructions(instructions, draft),
      ),
    );
    const wire = getBase64EncodedWireTransaction(transaction);
    return (await rpc.call("sendTransaction", [wire, { encoding: "base64" }])) as string;
  }

  return {
    chainId: solanaDevnet.id,
    domain: solanaDevnet.cctp?.domain ?? -1,
    // The programs that burn do not run here.
    messagesOf: async () => [],
    head: async () => Number(await rpc.call("getSlot")),
    mint: (_minter, message) => deliver(message),
    async isMinted(signature) {
      const { value } = (await rpc.call("getSignatureStatuses", [[signature]])) as {
        value: readonly ({ err: unknown } | null)[];
      };
      return value[0]?.err === null;
    },
  };
}

function faucetSigner(): Promise<KeyPairSigner> {
  const { secretKey } = sandboxAccounts().solana.faucet;
  return createKeyPairSignerFromBytes(Uint8Array.from(getBase58Encoder().encode(secretKey)));
}

function base58(word: Hex): Address {
  return address(getBase58Decoder().decode(hexToBytes(word)));
}

/** CreateIdempotent of the associated token account program. */
function createTokenAccount(payer: KeyPairSigner, account: Address, owner: Address): Instruction {
  return {
    programAddress: ATA_PROGRAM,
    accounts: [
      { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
      { address: account, role: AccountRole.WRITABLE },
      { address: owner, role: AccountRole.READONLY },
      { address: solanaMints.usdc, role: AccountRole.READONLY },
      { address: SYSTEM_PROGRAM, role: AccountRole.READONLY },
      { address: tokenPrograms["spl-token"], role: AccountRole.READONLY },
    ],
    data: Uint8Array.of(1),
  };
}

/** MintTo of the token program. */
function mintTo(authority: KeyPairSigner, account: Address, amount: bigint): Instruction {
  const data = new Uint8Array(9);
  data[0] = 7;
  new DataView(data.buffer).setBigUint64(1, amount, true);
  return {
    programAddress: tokenPrograms["spl-token"],
    accounts: [
      { address: solanaMints.usdc, role: AccountRole.WRITABLE },
      { address: account, role: AccountRole.WRITABLE },
      { address: authority.address, role: AccountRole.READONLY_SIGNER },
    ],
    data,
  };
}

/** Transfer of the system program. */
function transferLamports(from: KeyPairSigner, to: Address, lamports: bigint): Instruction {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, 2, true);
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
