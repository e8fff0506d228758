import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeFunctionData, erc20Abi, type Hex } from "viem";
import { accounts, type PreparedChain, startPreparedChain } from "../support/chain.ts";
import { balanceApp } from "./support.ts";

const chainId = "Arc_Testnet";
const address = "0x00000000000000000000000000000000C0FFEE01";
const holder = accounts.wallets[0]!.address;
let chain: PreparedChain;
let app: Awaited<ReturnType<typeof balanceApp>>;

const tokenOf = (symbol: string) =>
  chain.deployment.tokens.find((token) => token.symbol === symbol)!;

async function transfer(token: Hex, amount: bigint): Promise<void> {
  const args = [address, amount] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
  await chain.rpc.call("eth_sendTransaction", [{ from: holder, to: token, data }]);
}

beforeAll(async () => {
  chain = await startPreparedChain(5042002);
  const { tokens } = chain.deployment;
  app = await balanceApp({
    override: { "5042002": { tokens: [...tokens] } },
    allowedOrigins: [chain.url],
  });
  await transfer(tokenOf("USDC").address, 1_500_000n);
  await transfer(tokenOf("EURC").address, 7n);
  await chain.rpc.call("anvil_setBalance", [address, "0xde0b6b3a7640001"]);
}, 60_000);
afterAll(async () => {
  app.close();
  await chain.stop();
});

describe("POST /api/public/wallet/balance, 200 on an EVM chain", () => {
  test("without tokenAddress it is the network's USDC, as exactly one member", async () => {
    const answer = await app.ask({ address, chainId, rpcUrl: chain.url });
    expect(answer).toMatchObject({ status: 200, text: '{"balance":"1.500000"}' });
  });

  test("a token by address, in any casing, with all its fractional digits", async () => {
    const { address: token, decimals } = tokenOf("EURC");
    for (const tokenAddress of [token, token.toLowerCase(), `0x${token.slice(2).toUpperCase()}`]) {
      const { body } = await app.ask({ address, chainId, rpcUrl: chain.url, tokenAddress });
      expect(body).toEqual({ balance: `0.${"7".padStart(decimals, "0")}` });
    }
  });

  test("native is counted in the chain's native decimals, and tokenAddress is ignored", async () => {
    const request = { address, chainId, rpcUrl: chain.url, balanceType: "native" };
    for (const tokenAddress of [undefined, tokenOf("USDC").address, "nonsense"]) {
      const { body } = await app.ask({ ...request, tokenAddress });
      expect(body).toEqual({ balance: "1.000000000000000001" });
    }
  });

  test("a token the registry does not know is read with the decimals it states", async () => {
    // Answers every call with two words, of which the first is 6: longer than ABI, still readable.
    const odd = "0x00000000000000000000000000000000000000A1";
    await chain.rpc.call("anvil_setCode", [odd, "0x60065f5260405ff3"]);
    const request = { address, chainId, rpcUrl: chain.url, tokenAddress: odd };
    expect((await app.ask(request)).body).toEqual({ balance: "0.000006" });
  });

  test("a wallet that never was has zero, written out", async () => {
    const empty = "0x00000000000000000000000000000000000e3917";
    const request = { address: empty, chainId, rpcUrl: chain.url };
    expect((await app.ask(request)).body).toEqual({ balance: "0.000000" });
    const native = await app.ask({ ...request, balanceType: "native" });
    expect(native.body).toEqual({ balance: "0.000000000000000000" });
  });

  test("the network may be named by alias, other casing or decimal id", async () => {
    for (const name of ["arc-testnet", "ARC_TESTNET", "5042002"]) {
      const answer = await app.ask({ address, chainId: name, rpcUrl: chain.url });
      expect(answer.body).toEqual({ balance: "1.500000" });
    }
  });

  test("an answer is charged to the network it was read from, a refusal is not", async () => {
    const before = await app.usage();
    await app.ask({ address, chainId, rpcUrl: chain.url });
    await app.ask({ address, chainId, rpcUrl: "http://127.0.0.1:1" });
    const cuOf = (rows: typeof before) =>
      rows.filter((row) => row.chainId === 5042002).reduce((sum, row) => sum + row.cu, 0);
    expect(cuOf(await app.usage()) - cuOf(before)).toBe(1);
  });
});
