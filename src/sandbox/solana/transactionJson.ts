import { getBase58Decoder } from "@solana/kit";
import type { TransactionMetadata } from "litesvm";
import { amountJson } from "./accountJson.ts";
import type { HeldToken, Landed } from "./cluster.ts";
import { invalidParams, RpcError, rpcCodes, type TransactionErrorJson } from "./errors.ts";
import { type CompiledMessage, compiledOf } from "./wire.ts";

export interface TransactionJsonOptions {
  /** `json` (the default), `jsonParsed`, `base58` or `base64`. */
  readonly encoding: unknown;
  readonly maxSupportedTransactionVersion: unknown;
}

/**
 * A transaction as `getTransaction` answers it.
 * @throws RpcError for a version the caller does not know
 */
export function transactionJson(landed: Landed, options: TransactionJsonOptions): unknown {
  const message = compiledOf(landed.transaction);
  const { maxSupportedTransactionVersion: highest } = options;
  if (message.version !== "legacy" && typeof highest !== "number") {
    throw new RpcError(
      rpcCodes.unsupportedVersion,
      `Transaction version (${message.version}) is not supported by the requesting client. ` +
        "Please try the request again with the following configuration parameter: " +
        `"maxSupportedTransactionVersion": ${message.version}`,
    );
  }
  return {
    blockTime: landed.blockTime,
    meta: metaJson(landed),
    slot: landed.slot,
    transaction: encoded(landed, message, options.encoding),
    ...(typeof highest === "number" && { version: message.version }),
  };
}

function encoded(landed: Landed, message: CompiledMessage, encoding: unknown): unknown {
  switch (encoding) {
    case "base64":
      return [Buffer.from(landed.bytes).toString("base64"), "base64"];
    case "base58":
      return [getBase58Decoder().decode(landed.bytes), "base58"];
    case "json":
    case "jsonParsed":
    case undefined:
    case null: {
      const parsed = encoding === "jsonParsed";
      const signatures = Object.values(landed.transaction.signatures).map((signature) =>
        getBase58Decoder().decode(signature ?? new Uint8Array(64)),
      );
      return { message: parsed ? parsedMessage(message) : plainMessage(message), signatures };
    }
    default:
      throw invalidParams(`Invalid params: unknown variant \`${String(encoding)}\`.`);
  }
}

function plainMessage(message: CompiledMessage): unknown {
  const { header, staticAccounts, lifetimeToken, instructions } = message;
  return {
    accountKeys: staticAccounts,
    header: {
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
      numRequiredSignatures: header.numSignerAccounts,
    },
    instructions: instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
      accounts: accountIndices,
      data: getBase58Decoder().decode(data ?? new Uint8Array()),
      programIdIndex: programAddressIndex,
      stackHeight: 1,
    })),
    recentBlockhash: lifetimeToken,
    ...(message.version === 0 && { addressTableLookups: lookups(message) }),
  };
}

/** Programs' own instructions stay undecoded, as for every program a node has no parser of. */
function parsedMessage(message: CompiledMessage): unknown {
  const { header, staticAccounts, lifetimeToken, instructions } = message;
  const signers = header.numSignerAccounts;
  const isWritable = (index: number) =>
    index < signers
      ? index < signers - header.numReadonlySignerAccounts
      : index < staticAccounts.length - header.numReadonlyNonSignerAccounts;
  return {
    accountKeys: staticAccounts.map((pubkey, index) => ({
      pubkey,
      signer: index < signers,
      source: "transaction",
      writable: isWritable(index),
    })),
    instructions: instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
      accounts: accountIndices.map((index) => staticAccounts[index]),
      data: getBase58Decoder().decode(data ?? new Uint8Array()),
      programId: staticAccounts[programAddressIndex],
      stackHeight: 1,
    })),
    recentBlockhash: lifetimeToken,
    ...(message.version === 0 && { addressTableLookups: lookups(message) }),
  };
}

function lookups(message: CompiledMessage): unknown[] {
  const tables = "addressTableLookups" in message ? (message.addressTableLookups ?? []) : [];
  return tables.map(({ lookupTableAddress, readonlyIndexes, writableIndexes }) => ({
    accountKey: lookupTableAddress,
    readonlyIndexes,
    writableIndexes,
  }));
}

function metaJson({ meta, error, feeLamports, loaded, before, after }: Landed): unknown {
  return {
    computeUnitsConsumed: meta.computeUnitsConsumed(),
    err: error,
    fee: feeLamports,
    innerInstructions: innerInstructions(meta),
    loadedAddresses: loaded,
    logMessages: meta.logs(),
    postBalances: after.lamports,
    postTokenBalances: after.tokens.map(heldJson),
    preBalances: before.lamports,
    preTokenBalances: before.tokens.map(heldJson),
    rewards: [],
    status: statusJson(error),
    ...returnData(meta),
  };
}

/** The older form of an error, which nodes still send beside the newer. */
export function statusJson(error: TransactionErrorJson | null): unknown {
  return error === null ? { Ok: null } : { Err: error };
}

function heldJson({ accountIndex, mint, owner, programId, amountAtomic, decimals }: HeldToken) {
  return {
    accountIndex,
    mint,
    owner,
    programId,
    uiTokenAmount: amountJson(amountAtomic, decimals),
  };
}

/** Instructions that programs called, by the instruction that led to them. */
export function innerInstructions(meta: TransactionMetadata): unknown[] {
  return meta.innerInstructions().flatMap((inner, index) => {
    if (inner.length === 0) return [];
    const instructions = inner.map((entry) => {
      const instruction = entry.instruction();
      return {
        accounts: [...instruction.accounts()],
        data: getBase58Decoder().decode(instruction.data()),
        programIdIndex: instruction.programIdIndex(),
        stackHeight: entry.stackHeight(),
      };
    });
    return [{ index, instructions }];
  });
}

/** What the last program returned, where it returned anything. */
export function returnData(meta: TransactionMetadata): { readonly returnData?: unknown } {
  const returned = meta.returnData();
  const data = returned.data();
  if (data.length === 0) return {};
  const programId = getBase58Decoder().decode(returned.programId());
  return { returnData: { data: [Buffer.from(data).toString("base64"), "base64"], programId } };
}
