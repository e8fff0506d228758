import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstruction,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  type Blockhash,
  getBase58Encoder,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { sandboxAccounts } from "../../src/sandbox/accounts.ts";
import { prepareCluster } from "../../src/sandbox/solana/genesis.ts";
import type { SolanaWallet } from "../../src/sandbox/solana/keys.ts";
import { serveCluster } from "../../src/sandbox/solana/server.ts";
import { encodeBase58 } from "../../src/lib/base58.ts";

/** A prepared cluster with its node, in this process. Stop it in `afterAll`. */
export async function startSolana() {
  const { cluster, faucet } = await prepareCluster(sandboxAccounts());
  const server = serveCluster(cluster, faucet);
  return { ...server, cluster };
}
export type LocalSolana = Awaited<ReturnType<typeof startSolana>>;

/** A JSON-RPC answer. */
export interface Reply {
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not computed with
  readonly result?: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly error?: { readonly code: number; readonly message: string; readonly data?: any };
}

/** Calls a node. */
export async function callNode(url: string, method: string, params?: unknown[]): Promise<Reply> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, ...(params && { params }) }),
  });
  return (await response.json()) as Reply;
}

/** A signed transfer of lamports, as it goes over the wire. */
export async function signedTransfer(options: {
  readonly from: SolanaWallet;
  readonly to: Address;
  readonly lamports: bigint;
  readonly blockhash: string;
}): Promise<{ base64: string; base58: string; signature: string }> {
  const secret = Uint8Array.from(getBase58Encoder().encode(options.from.secretKey));
  const signer = await createKeyPairSignerFromBytes(secret);
  const lifetime = { blockhash: options.blockhash as Blockhash, lastValidBlockHeight: 0n };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayerSigner(signer, draft),
    (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => appendTransactionMessageInstruction(transferOf(options), draft),
  );
  const transaction = await signTransactionMessageWithSigners(message);
  const bytes = Uint8Array.from(getTransactionEncoder().encode(transaction));
  return {
    base64: bytes.toBase64(),
    base58: encodeBase58(bytes),
    signature: encodeBase58(bytes.subarray(1, 65)),
  };
}

function transferOf(options: {
  readonly from: SolanaWallet;
  readonly to: Address;
  readonly lamports: bigint;
}): Instruction {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, 2, true);
  view.setBigUint64(4, options.lamports, true);
  return {
    programAddress: address("11111111111111111111111111111111"),
    accounts: [
      { address: options.from.address, role: AccountRole.WRITABLE_SIGNER },
      { address: options.to, role: AccountRole.WRITABLE },
    ],
    data,
  };
}
