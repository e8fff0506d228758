/** Words and addresses of the scripted chain. */
const HASH = "0x8f6d1f7f9e5a4d2b3c1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c";
const ADDRESS = "0x3600000000000000000000000000000000000000";
const WORD = `0x${"0".repeat(55)}3b9aca000`;
const LARGE_BYTES = 1_000_000;

const log = {
  address: ADDRESS,
  topics: [
    "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
    `0x${"0".repeat(24)}${"a1".repeat(20)}`,
    `0x${"0".repeat(24)}${"b2".repeat(20)}`,
  ],
  data: WORD,
  blockHash: HASH,
  blockNumber: "0x112a880",
  transactionHash: HASH,
  transactionIndex: "0x2b",
  logIndex: "0x7c",
  removed: false,
};

const receipt = {
  transactionHash: HASH,
  transactionIndex: "0x2b",
  blockHash: HASH,
  blockNumber: "0x112a880",
  from: ADDRESS,
  to: ADDRESS,
  cumulativeGasUsed: "0x5b8d80",
  effectiveGasPrice: "0x3b9aca00",
  gasUsed: "0x1d4c0",
  contractAddress: null,
  logs: [log, log],
  logsBloom: `0x${"00".repeat(256)}`,
  status: "0x1",
  type: "0x2",
};

const block = {
  number: "0x112a880",
  hash: HASH,
  parentHash: HASH,
  nonce: "0x0000000000000000",
  logsBloom: `0x${"00".repeat(256)}`,
  stateRoot: HASH,
  miner: ADDRESS,
  gasLimit: "0x1c9c380",
  gasUsed: "0xe4e1c0",
  timestamp: "0x65f1b3c0",
  baseFeePerGas: "0x3b9aca00",
  transactions: Array.from({ length: 120 }, () => HASH),
};

/** Results of the scripted chain, as JSON text by method; sizes are those of a real node. */
export const results: ReadonlyMap<string, string> = new Map(
  Object.entries({
    eth_chainId: "0x13b2",
    net_version: "5042",
    eth_blockNumber: "0x112a880",
    eth_gasPrice: "0x3b9aca00",
    eth_getBalance: "0xde0b6b3a7640000",
    eth_getTransactionCount: "0x1f",
    eth_call: WORD,
    eth_estimateGas: "0x1d4c0",
    eth_getTransactionReceipt: receipt,
    eth_getBlockByNumber: block,
    eth_getLogs: Array.from({ length: 30 }, () => log),
    /** 1 MB. */
    eth_getBlockReceipts: `0x${"5f".repeat(LARGE_BYTES / 2)}`,
  }).map(([method, result]) => [method, JSON.stringify(result)]),
);
