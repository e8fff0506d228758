/** How a method names the block it is about, by position in its params. */
export type Subject =
  /** About no block: the same whatever the chain does. */
  | { readonly kind: "constant" }
  /** About the tip of the chain, without naming it. */
  | { readonly kind: "tip" }
  /** State at, or contents of, the block at this position; the tip when left out. */
  | { readonly kind: "at"; readonly index: number }
  /** A block or transaction known by the hash at position 0. */
  | { readonly kind: "hash"; readonly of: "block" | "transaction" }
  /** A filter object with `fromBlock` and `toBlock`, or `blockHash`, at position 0. */
  | { readonly kind: "filter" };

/** Where an answer says which block it is from. */
export type Evidence =
  /** The result is the number of the newest block. */
  | "number"
  /** The result is a block, with `number`. */
  | "block"
  /** The result has `blockNumber`: a receipt or a mined transaction. */
  | "inclusion"
  /** The result is a list whose members have `blockNumber`, in ascending order. */
  | "list"
  /** The result begins at `oldestBlock` and tells one ratio per block. */
  | "history"
  | "none";

/** What is known of a read method. */
export interface ReadMethod {
  readonly subject: Subject;
  readonly evidence: Evidence;
  /** Positions of params that are addresses or calls with addresses, whose case means nothing. */
  readonly addresses: readonly number[];
  /** `null` means that the node does not have what was asked for, now or yet. */
  readonly nullMeansMissing: boolean;
  /** The result is fixed by the block it is about. */
  readonly isFixed: boolean;
}

const constant: Subject = { kind: "constant" };
const tip: Subject = { kind: "tip" };
const at = (index: number): Subject => ({ kind: "at", index });

interface Traits {
  readonly evidence?: Evidence;
  readonly addresses?: readonly number[];
  readonly isFixed?: boolean;
}

function state(subject: Subject, addresses: readonly number[] = [], traits: Traits = {}) {
  const isFixed = traits.isFixed ?? true;
  const evidence = traits.evidence ?? "none";
  return { subject, evidence, addresses, nullMeansMissing: false, isFixed };
}

function found(subject: Subject, evidence: Evidence, isFixed = true): ReadMethod {
  return { subject, evidence, addresses: [], nullMeansMissing: true, isFixed };
}

const blockByHash: Subject = { kind: "hash", of: "block" };
const transactionByHash: Subject = { kind: "hash", of: "transaction" };

/**
 * The methods whose block references are understood (execution-apis, and the `debug` and `trace`
 * namespaces of go-ethereum and Erigon). Any other method is passed on without sharing across
 * differing bytes and without being kept.
 */
export const readMethods: ReadonlyMap<string, ReadMethod> = new Map<string, ReadMethod>([
  ["eth_chainId", state(constant)],
  ["net_version", state(constant)],
  ["net_listening", state(constant)],
  ["web3_sha3", state(constant)],
  ["web3_clientVersion", state(constant, [], { isFixed: false })],
  ["eth_protocolVersion", state(constant, [], { isFixed: false })],

  ["eth_blockNumber", state(tip, [], { evidence: "number", isFixed: false })],
  ["eth_gasPrice", state(tip, [], { isFixed: false })],
  ["eth_maxPriorityFeePerGas", state(tip, [], { isFixed: false })],
  ["eth_blobBaseFee", state(tip, [], { isFixed: false })],
  ["eth_baseFee", state(tip, [], { isFixed: false })],

  ["eth_getBalance", state(at(1), [0])],
  ["eth_getCode", state(at(1), [0])],
  ["eth_getTransactionCount", state(at(1), [0])],
  ["eth_getStorageAt", state(at(2), [0])],
  ["eth_getProof", state(at(2), [0])],
  ["eth_call", state(at(1), [0])],
  ["eth_estimateGas", state(at(1), [0])],
  ["eth_createAccessList", state(at(1), [0])],
  ["eth_simulateV1", state(at(1))],
  ["eth_callMany", state(at(1))],
  ["eth_feeHistory", state(at(1), [], { evidence: "history" })],

  ["eth_getBlockByNumber", found(at(0), "block")],
  ["eth_getHeaderByNumber", found(at(0), "block")],
  ["eth_getBlockReceipts", found(at(0), "list")],
  ["eth_getBlockTransactionCountByNumber", found(at(0), "none")],
  ["eth_getUncleCountByBlockNumber", found(at(0), "none")],
  ["eth_getTransactionByBlockNumberAndIndex", state(at(0), [], { evidence: "inclusion" })],
  ["eth_getUncleByBlockNumberAndIndex", state(at(0))],
  ["debug_traceBlockByNumber", state(at(0))],
  ["trace_block", state(at(0))],
  ["trace_replayBlockTransactions", state(at(0))],
  ["debug_traceCall", state(at(1), [0])],
  ["trace_call", state(at(2), [0])],

  ["eth_getBlockByHash", found(blockByHash, "block")],
  ["eth_getHeaderByHash", found(blockByHash, "block")],
  ["eth_getBlockTransactionCountByHash", found(blockByHash, "none", false)],
  ["eth_getUncleCountByBlockHash", found(blockByHash, "none", false)],
  ["eth_getTransactionByBlockHashAndIndex", found(blockByHash, "inclusion")],
  ["eth_getTransactionByHash", found(transactionByHash, "inclusion")],
  ["eth_getTransactionReceipt", found(transactionByHash, "inclusion")],
  ["eth_getRawTransactionByHash", found(transactionByHash, "none", false)],
  ["debug_traceTransaction", found(transactionByHash, "none", false)],
  ["trace_transaction", found(transactionByHash, "none", false)],

  ["eth_getLogs", state({ kind: "filter" }, [0], { evidence: "list" })],
  ["trace_filter", state({ kind: "filter" }, [0], { evidence: "list" })],
]);

/** Namespaces whose methods read, also those not listed above; calls that send are not among them. */
const readingName = /^(?:eth_(?!send|submit|sign|new|uninstall|subscribe|unsubscribe)|net_|web3_)/;

/**
 * Whether the same call made twice at once may be made once.
 * @param known - what is known of the method
 */
export function isShareable(method: string, known: ReadMethod | undefined): boolean {
  return known !== undefined || readingName.test(method);
}
