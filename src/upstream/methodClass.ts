/**
 * What kind of work a method is. Health is kept per class, because a node that is quick at reading
 * a balance may be slow at tracing a block.
 */
export const methodClasses = ["read", "heavy", "broadcast"] as const;
export type MethodClass = (typeof methodClasses)[number];

const broadcasts = new Set([
  "eth_sendRawTransaction",
  "eth_sendRawTransactionSync",
  "sendTransaction",
]);

const heavies = new Set([
  "eth_getLogs",
  "eth_getBlockReceipts",
  "eth_createAccessList",
  "eth_simulateV1",
  "getProgramAccounts",
  "getBlock",
  "getBlocks",
]);

const heavyNamespace = /^(?:trace_|debug_|arbtrace_|ots_)/;

/** The class of a method; what is not known is an ordinary read. */
export function classOf(method: string): MethodClass {
  if (broadcasts.has(method)) return "broadcast";
  return heavies.has(method) || heavyNamespace.test(method) ? "heavy" : "read";
}
