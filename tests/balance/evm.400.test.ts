import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type PreparedChain, startPreparedChain } from "../support/chain.ts";
import { balanceApp, startNode } from "./support.ts";

const address = "0x00000000000000000000000000000000C0FFEE01";
const chainId = "Arc_Testnet";
let chain: PreparedChain;
let app: Awaited<ReturnType<typeof balanceApp>>;

const silent = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Promise<Response>(() => undefined),
});
const silentUrl = `http://127.0.0.1:${silent.port}`;
const babbling = startNode({
  eth_chainId: () => '"0x4cef52"',
  eth_blockNumber: () => '"0x1"',
  eth_getBalance: () => '"a lot, see http://10.1.2.3/admin"',
  eth_call: () => ({ code: -32_000, message: "secret backend 10.1.2.3 says no" }),
  eth_getCode: () => ({ code: -32_000, message: "secret backend 10.1.2.3 says no" }),
});
const redirecting = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => Response.redirect(chain.url, 307),
});
const endless = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { id } = (await request.json()) as { id: number };
    return new Response(`{"jsonrpc":"2.0","id":${id},"result":"0x4cef52"${" ".repeat(2_000_000)}}`);
  },
});
const closedUrl = "http://127.0.0.1:1";

beforeAll(async () => {
  chain = await startPreparedChain(5042002);
  app = await balanceApp({
    override: { "5042002": { tokens: [...chain.deployment.tokens] } },
    allowedOrigins: [
      chain.url,
      silentUrl,
      closedUrl,
      babbling.url,
      `http://127.0.0.1:${redirecting.port}`,
      `http://127.0.0.1:${endless.port}`,
    ],
  });
}, 60_000);
afterAll(async () => {
  app.close();
  const servers = [silent, redirecting, endless].map((server) => server.stop(true));
  await Promise.all([...servers, babbling.stop(), chain.stop()]);
});

const valid = () => ({ address, chainId, rpcUrl: chain.url });

describe("POST /api/public/wallet/balance, 400", () => {
  test("the first missing field is named, in the order address, chainId, rpcUrl", async () => {
    const cases: [object, string][] = [
      [{}, "address"],
      [{ rpcUrl: "x" }, "address"],
      [{ address }, "chainId"],
      [{ address, rpcUrl: "x" }, "chainId"],
      [{ address, chainId }, "rpcUrl"],
      [{ address: "", chainId, rpcUrl: "x" }, "address"],
      [{ address: null, chainId, rpcUrl: "x" }, "address"],
    ];
    for (const [body, field] of cases) {
      expect(await app.ask(body)).toMatchObject({
        status: 400,
        code: "MISSING_FIELD",
        body: { success: false, error: `Missing required field: ${field}` },
      });
    }
  });

  test("a body that is no JSON object", async () => {
    for (const body of ["", "{", "[]", "1", '"text"', "null"]) {
      expect(await app.ask(body)).toMatchObject({ status: 400, code: "INVALID_JSON" });
    }
  });

  test("an unknown network is named", async () => {
    expect(await app.ask({ ...valid(), chainId: "Nowhere" })).toMatchObject({
      status: 400,
      code: "UNSUPPORTED_CHAIN",
      body: { error: "Unsupported chainId: Nowhere" },
    });
  });

  test("fields of the wrong type or value", async () => {
    const wrong = [
      { chainId: 5042002 },
      { address: 1 },
      { address: "0x1234" },
      { address: `${address}00` },
      { address: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM" },
      { tokenAddress: "USDC" },
      { tokenAddress: 7 },
      { balanceType: "nft" },
    ];
    for (const member of wrong) {
      const { status, code, body } = await app.ask({ ...valid(), ...member });
      expect({ member, status, code }).toEqual({ member, status: 400, code: "INVALID_FIELD" });
      expect(body.error).toContain(Object.keys(member)[0]!);
    }
  });

  test("a tokenAddress without a contract says so", async () => {
    const tokenAddress = "0x00000000000000000000000000000000000000ff";
    const { status, body } = await app.ask({ ...valid(), tokenAddress });
    expect(status).toBe(400);
    expect(body.error).toBe(
      `Invalid field: tokenAddress (${tokenAddress} is no contract on Arc_Testnet)`,
    );
  });

  test("contracts that do not answer as ERC-20 does are refused, never read as zero", async () => {
    const contracts = {
      "answers nothing": "0x00",
      reverts: "0x5f5ffd",
      "answers one byte": "0x60065f5360015ff3",
      "states more decimals than uint8 holds": "0x5f195f5260205ff3",
    };
    for (const [index, [kind, code]] of Object.entries(contracts).entries()) {
      const tokenAddress = `0x${"b".repeat(38)}0${index}`;
      await chain.rpc.call("anvil_setCode", [tokenAddress, code]);
      const answer = await app.ask({ ...valid(), tokenAddress });
      expect({ kind, code: answer.code }).toEqual({ kind, code: "INVALID_FIELD" });
      expect(answer.body.error).toContain("does not answer balanceOf and decimals as ERC-20 does");
    }
  });

  test("a node of another chain", async () => {
    expect(await app.ask({ ...valid(), chainId: "Base_Sepolia" })).toMatchObject({
      status: 400,
      code: "RPC_URL_WRONG_NETWORK",
      body: { error: "rpcUrl does not serve Base_Sepolia (84532)" },
    });
  });

  test("unreachable nodes are told within six seconds, in the contract's words", async () => {
    const urls = [silentUrl, closedUrl, "https://nowhere.invalid/"];
    const started = performance.now();
    const answers = await Promise.all(urls.map((rpcUrl) => app.ask({ ...valid(), rpcUrl })));
    expect(performance.now() - started).toBeLessThan(6_000);
    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 400,
        code: "RPC_URL_UNREACHABLE",
        body: { success: false, error: "Failed to reach rpcUrl" },
      });
    }
  }, 60_000);

  test("redirects are not followed and answers above the limit are not read", async () => {
    for (const { port } of [redirecting, endless]) {
      const answer = await app.ask({ ...valid(), rpcUrl: `http://127.0.0.1:${port}` });
      expect(answer).toMatchObject({ status: 400, code: "RPC_URL_UNREACHABLE" });
    }
  }, 60_000);

  test("private and odd URLs are refused before anything is sent", async () => {
    for (const rpcUrl of [
      "http://127.0.0.1:2",
      "http://169.254.169.254/latest/meta-data",
      "https://[::1]/",
      "https://localhost/",
      "file:///etc/passwd",
      "not a url",
      chain.url.replace("127.0.0.1", "localhost"),
    ]) {
      const { status, code } = await app.ask({ ...valid(), rpcUrl });
      expect({ rpcUrl, status, code }).toEqual({ rpcUrl, status: 400, code: "RPC_URL_REFUSED" });
    }
  });

  test("nothing a node says is repeated", async () => {
    for (const balanceType of ["token", "native"]) {
      const { status, text } = await app.ask({ ...valid(), rpcUrl: babbling.url, balanceType });
      expect(status).toBe(400);
      expect(text).not.toMatch(/10\.1\.2\.3|secret|a lot/);
    }
  });
});
