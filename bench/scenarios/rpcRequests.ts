import type { RequestTemplate } from "../load/request.ts";

/** Path of the service's proxy for the scripted nodes. */
export const RPC_PATH = "/api/public/rpc/5042";

/** Text of every right answer: the result of this request, under this request's kind of id. */
export const RPC_EXPECTS = '"result":';

const ADDRESS = '"0x@ADDRESS@"';

function rpc(method: string, params: string, weight = 1): RequestTemplate {
  const body = `{"jsonrpc":"2.0","id":@ID@,"method":"${method}","params":${params}}`;
  return { method: "POST", path: "/", headers: {}, body, weight };
}

/** A small read that is never the same twice, so that nothing is shared and nothing is cached. */
export const balanceRequests: readonly RequestTemplate[] = [
  rpc("eth_getBalance", `[${ADDRESS},"latest"]`),
];

/** One old state, asked for again and again: what cannot change any more. */
export const settledRequests: readonly RequestTemplate[] = [
  rpc("eth_getBalance", '["0x3600000000000000000000000000000000000000","0x1000000"]'),
];

/** An answer of 1 MB. */
export const largeRequests: readonly RequestTemplate[] = [
  rpc("eth_getBlockReceipts", '["0x112a880"]'),
];

/** The methods of a wallet's and a DEX front end's traffic, in about the shares they have there. */
export const mixedRequests: readonly RequestTemplate[] = [
  rpc("eth_call", `[{"to":${ADDRESS},"data":"0x70a08231${"0".repeat(24)}@ADDRESS@"},"latest"]`, 40),
  rpc("eth_blockNumber", "[]", 15),
  rpc("eth_getBalance", `[${ADDRESS},"latest"]`, 10),
  rpc("eth_getTransactionReceipt", `["0x${"0".repeat(24)}@ADDRESS@"]`, 10),
  rpc("eth_getBlockByNumber", '["latest",false]', 8),
  rpc("eth_chainId", "[]", 5),
  rpc("eth_gasPrice", "[]", 4),
  rpc("eth_getTransactionCount", `[${ADDRESS},"latest"]`, 3),
  rpc("eth_getLogs", `[{"address":${ADDRESS},"fromBlock":"0x112a870","toBlock":"0x112a880"}]`, 3),
  rpc("eth_estimateGas", `[{"to":${ADDRESS},"value":"0x1"}]`, 2),
];
