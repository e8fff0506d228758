import type { SandboxInfo } from "./info.ts";

/** One request to try, ready to paste. */
export interface CurlExample {
  readonly title: string;
  readonly command: string;
}

const CHAIN_ID = "5042";

/** Requests that work against a running sandbox as they stand. */
export function curlExamples(info: SandboxInfo): CurlExample[] {
  const key = info.keys?.all ?? "";
  const api = `${info.baseUrl}/api/public`;
  const wallet = info.wallets[0]?.address;
  const get = (path: string) => `curl -s ${api}${path} -H 'x-api-key: ${key}'`;
  const post = (path: string, body: string) =>
    `${get(path)} -H 'content-type: application/json' -d ${body}`;
  const quote = post(
    "/swap/quote",
    json({ inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000000" }),
  );
  const build = post(
    "/swap/build-tx",
    `"{\\"quote\\":$(${quote} | sed 's/^{"success":true,"data"://; s/}$//'),\\"userAddress\\":\\"${wallet}\\"}"`,
  );
  const balance = {
    address: wallet,
    chainId: info.chains[CHAIN_ID]?.name,
    rpcUrl: info.chains[CHAIN_ID]?.rpcUrl,
    tokenAddress: info.chains[CHAIN_ID]?.tokens["EURC"],
  };
  const bridge = {
    fromChainId: 5042002,
    toChainId: 84532,
    amount: "10.00",
    token: "USDC",
    recipientAddress: wallet,
  };
  const blockNumber = { jsonrpc: "2.0", method: "eth_blockNumber", params: [], id: 1 };
  return [
    { title: "prices", command: get("/prices") },
    { title: "quote 1,000 USDC to EURC", command: quote },
    { title: "build the transactions of such a quote", command: build },
    { title: "JSON-RPC", command: post(`/rpc/${CHAIN_ID}`, json(blockNumber)) },
    { title: "bridge 10 USDC to Base's testnet", command: post("/bridge", json(bridge)) },
    { title: "EURC balance of a wallet", command: post("/wallet/balance", json(balance)) },
  ];
}

/** A JSON body in single quotes, for a shell. */
function json(body: unknown): string {
  return `'${JSON.stringify(body)}'`;
}
