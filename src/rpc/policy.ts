/**
 * Methods the proxy refuses unless configured otherwise, whatever the node behind it would do: they
 * act with the node's own keys, control the node, or keep state on one node while calls go to many.
 */
const refusedNamespaces: ReadonlySet<string> = new Set([
  "admin",
  "anvil",
  "clique",
  "dev",
  "engine",
  "evm",
  "ganache",
  "hardhat",
  "les",
  "miner",
  "parity",
  "personal",
  "tenderly",
]);

const refusedMethods: ReadonlySet<string> = new Set([
  // The node's own accounts.
  "eth_accounts",
  "eth_coinbase",
  "eth_requestAccounts",
  "eth_sendTransaction",
  "eth_sendUnsignedTransaction",
  "eth_sign",
  "eth_signTransaction",
  "eth_signTypedData",
  "eth_signTypedData_v1",
  "eth_signTypedData_v3",
  "eth_signTypedData_v4",
  // Mining.
  "eth_getWork",
  "eth_hashrate",
  "eth_mining",
  "eth_submitHashrate",
  "eth_submitWork",
  // State kept on one node.
  "eth_getFilterChanges",
  "eth_getFilterLogs",
  "eth_newBlockFilter",
  "eth_newFilter",
  "eth_newPendingTransactionFilter",
  "eth_subscribe",
  "eth_uninstallFilter",
  "eth_unsubscribe",
  // Files, profiles and settings of the node.
  "debug_backtraceAt",
  "debug_blockProfile",
  "debug_chaindbCompact",
  "debug_chaindbProperty",
  "debug_cpuProfile",
  "debug_freeOSMemory",
  "debug_goTrace",
  "debug_mutexProfile",
  "debug_standardTraceBadBlockToFile",
  "debug_standardTraceBlockToFile",
  "debug_startCPUProfile",
  "debug_startGoTrace",
  "debug_stopCPUProfile",
  "debug_stopGoTrace",
  "debug_verbosity",
  "debug_vmodule",
  "debug_writeBlockProfile",
  "debug_writeMemProfile",
  "debug_writeMutexProfile",
]);

/** Methods whose decision is remembered. */
const MAX_DECIDED = 512;

/** What the operator changes about the methods served; `debug_*` means a whole namespace. */
export interface MethodPolicyOptions {
  readonly refusedMethods: readonly string[];
  readonly allowedMethods: readonly string[];
}

/**
 * Makes the check whether a method is refused; names are case-sensitive, as in nodes. What names a
 * method exactly counts more than a pattern or a default, and refusing more than allowing.
 */
export function createMethodPolicy(options: MethodPolicyOptions): (method: string) => boolean {
  const refused = matcher(options.refusedMethods);
  const allowed = matcher(options.allowedMethods);
  const decide = (method: string) => {
    if (refused.exactly(method)) return true;
    if (allowed.exactly(method)) return false;
    if (refused.byPattern(method)) return true;
    return !allowed.byPattern(method) && isRefusedByDefault(method);
  };
  const decided = new Map<string, boolean>();
  return (method) => {
    const known = decided.get(method);
    if (known !== undefined) return known;
    const isRefused = decide(method);
    // Callers may make up names; those of real methods come first.
    if (decided.size < MAX_DECIDED) decided.set(method, isRefused);
    return isRefused;
  };
}

function matcher(entries: readonly string[]) {
  const exact = new Set(entries.filter((entry) => !entry.endsWith("*")));
  const prefixes = entries
    .filter((entry) => entry.endsWith("*"))
    .map((entry) => entry.slice(0, -1));
  return {
    exactly: (method: string) => exact.has(method),
    byPattern: (method: string) => prefixes.some((prefix) => method.startsWith(prefix)),
  };
}

function isRefusedByDefault(method: string): boolean {
  if (refusedMethods.has(method) || method.startsWith("debug_set")) return true;
  const underscore = method.indexOf("_");
  return underscore !== -1 && refusedNamespaces.has(method.slice(0, underscore));
}
