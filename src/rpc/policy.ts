/**
 * Methods the proxy refuses, whatever the node behind it would do: they act with the node's own
 * keys, control the node, or keep state on one node while calls go to many.
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

/** Whether a method is refused; names are case-sensitive, as in nodes. */
export function isRefused(method: string): boolean {
  if (refusedMethods.has(method) || method.startsWith("debug_set")) return true;
  const underscore = method.indexOf("_");
  return underscore !== -1 && refusedNamespaces.has(method.slice(0, underscore));
}
