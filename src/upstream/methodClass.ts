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

/** Methods whose class is remembered; callers may make up names, those of real methods come first. */
const MAX_KNOWN = 512;
const known = new Map<string, MethodClass>();

/** The class of a method; what is not known is an ordinary read. */
export function classOf(method: string): MethodClass {
  const found = known.get(method);
  if (found) return found;
  const name = decideClass(method);
  if (known.size < MAX_KNOWN) known.set(method, name);
  return name;
}

function decideClass(method: string): MethodClass {
  if (broadcasts.has(method)) return "broadcast";
  return heavies.has(method) || heavyNamespace.test(method) ? "heavy" : "read";
}
