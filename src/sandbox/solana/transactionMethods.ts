import type { Transaction } from "@solana/kit";
import { accountJson } from "./accountJson.ts";
import { type Cluster, refused, type RunResult } from "./cluster.ts";
import { describeError, invalidParams, RpcError, rpcCodes } from "./errors.ts";
import { asOptions, at, type Options, type Params, readAddress } from "./params.ts";
import { stage, type Staged } from "./standIn.ts";
import { innerInstructions, returnData } from "./transactionJson.ts";
import { readTransaction, signatureOf } from "./wire.ts";

/** `sendTransaction`: checked and simulated first, unless the caller skips that. */
export async function sendTransaction(cluster: Cluster, [text, given]: Params): Promise<unknown> {
  const options = asOptions(given);
  const transaction = readTransaction(text, options["encoding"]);
  if (options["skipPreflight"] !== true) {
    checkSignatures(transaction);
    const { result, staged } = await simulated(cluster, transaction, {
      verify: true,
      anyBlockhash: false,
    });
    refuseFailure(result);
    cluster.send(transaction, staged);
  } else if (isSigned(transaction)) {
    // What the leader drops later, the node has accepted all the same.
    const staged = await stage(cluster, transaction);
    if (!staged || "commit" in staged) cluster.send(transaction, staged);
  }
  return signatureOf(transaction);
}

/** Runs a transaction without effect, with stand-ins for the programs the VM has no code of. */
async function simulated(
  cluster: Cluster,
  transaction: Transaction,
  options: { readonly verify: boolean; readonly anyBlockhash: boolean },
): Promise<{ readonly result: RunResult; readonly staged?: Staged }> {
  const staged = await stage(cluster, transaction);
  if (!staged) return { result: cluster.simulate(transaction, options) };
  if ("error" in staged) return { result: refused(staged.error, staged.logs) };
  return { result: cluster.simulate(transaction, options, staged), staged };
}

function refuseFailure(result: RunResult): void {
  if (result.error === null) return;
  // One that was changed after signing fails here, before it is run.
  if (result.error === "SignatureFailure") throw signatureFailure();
  const message = `Transaction simulation failed: ${describeError(result.error)}`;
  throw new RpcError(rpcCodes.preflightFailure, message, resultJson(result));
}

/** `simulateTransaction`, with the accounts it would change where asked for. */
export async function simulateTransaction(
  cluster: Cluster,
  [text, given]: Params,
): Promise<unknown> {
  const options = asOptions(given);
  const transaction = readTransaction(text, options["encoding"]);
  const verify = options["sigVerify"] === true;
  const anyBlockhash = options["replaceRecentBlockhash"] === true;
  if (verify && anyBlockhash) {
    throw invalidParams("sigVerify may not be used with replaceRecentBlockhash");
  }
  if (verify) checkSignatures(transaction);
  const { result } = await simulated(cluster, transaction, { verify, anyBlockhash });
  if (verify && result.error === "SignatureFailure") throw signatureFailure();
  const replacement = anyBlockhash ? cluster.slots.latestBlockhash("finalized") : null;
  return at(cluster, options).answer({
    ...resultJson(result),
    accounts: postAccounts(cluster, result, options),
    replacementBlockhash: replacement,
    ...(options["innerInstructions"] === true && {
      innerInstructions: result.meta ? innerInstructions(result.meta) : null,
    }),
  });
}

function resultJson({ error, meta, logs }: RunResult) {
  return {
    accounts: null,
    err: error,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: (meta && returnData(meta).returnData) ?? null,
    unitsConsumed: meta?.computeUnitsConsumed() ?? 0n,
  };
}

function postAccounts(cluster: Cluster, { postAccounts: after }: RunResult, options: Options) {
  const { addresses, encoding } = asOptions(options["accounts"]);
  if (!Array.isArray(addresses)) return null;
  return addresses.map((text: unknown) => {
    const address = readAddress(text);
    const account = after.find((entry) => entry.address === address) ?? cluster.account(address);
    if (!account) return null;
    const decimalsOf = cluster.decimalsOf.bind(cluster);
    return accountJson(account, { encoding: encoding ?? "base64", decimalsOf });
  });
}

function isSigned(transaction: Transaction): boolean {
  return Object.values(transaction.signatures).every((signature) => signature !== null);
}

function checkSignatures(transaction: Transaction): void {
  if (!isSigned(transaction)) throw signatureFailure();
}

function signatureFailure(): RpcError {
  return new RpcError(rpcCodes.signatureVerification, "Transaction signature verification failure");
}
