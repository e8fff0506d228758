import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createApiClient } from "../../src/sandbox/apiClient.ts";
import { curlExamples } from "../../src/sandbox/curl.ts";
import { type SandboxInfo, keyNames } from "../../src/sandbox/info.ts";
import { SandboxInUseError } from "../../src/sandbox/lock.ts";
import { nodeRpc } from "../../src/sandbox/rpc.ts";
import { infoFile, type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { walkSwap } from "../../src/sandbox/swapFlow.ts";
import { STATE_DIR } from "../support/chain.ts";
import { temporaryDirectory } from "../support/sandbox.ts";

const dir = temporaryDirectory();
let sandbox: Sandbox;
let info: SandboxInfo;

const start = () => startSandbox({ dir, stateDir: STATE_DIR });

beforeAll(async () => {
  sandbox = await start();
  info = sandbox.info();
}, 60_000);

afterAll(async () => {
  await sandbox.stop();
}, 60_000);

test("sandbox.json has every field others rely on", () => {
  const written = JSON.parse(readFileSync(infoFile(dir), "utf8"));
  expect(written).toEqual(info);
  expect(Object.keys(written.chains)).toEqual(["5042", "84532", "5042002"]);
  expect(Object.keys(written.keys)).toEqual([...keyNames]);
  expect(written.solana).toMatchObject({ name: "Solana_Devnet", chainId: 133_268_194_659_241 });
  expect(written.solana.upstreams).toHaveLength(3);
  expect(written.services.priceFeeds).toHaveLength(5);
  expect(Object.keys(written.services.aggregators)).toEqual(["USDC", "EURC", "USDT"]);
  expect(written.chains["5042"].name).toBe("Arc");
  expect(written.chains["5042"].upstreams).toHaveLength(3);
  expect(written.chains["5042"].cctp).toMatchObject({ domain: 26 });
  expect(Object.keys(written.chains["5042"].tokens)).toEqual(["USDC", "EURC", "USDT", "WETH"]);
  expect(written.chains["5042"].venues.map(({ id }: { id: string }) => id)).toEqual([
    "venue-a",
    "venue-b",
    "native-dex",
  ]);
  expect(new Set(written.pids).size).toBe(17);
});

test("every upstream answers for its chain", async () => {
  for (const [id, chain] of Object.entries(info.chains)) {
    for (const url of [chain.rpcUrl, ...chain.upstreams]) {
      expect(Number(await nodeRpc(url).call("eth_chainId"))).toBe(Number(id));
    }
  }
});

const post = (path: string, body: unknown) =>
  fetch(`${info.baseUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": info.keys!.all },
    body: JSON.stringify(body),
  });

test("Solana answers through the proxy and in balances", async () => {
  const call = { jsonrpc: "2.0", id: 1, method: "getHealth", params: [] };
  for (const name of ["solana-devnet", "Solana_Devnet", "133268194659241"]) {
    const answer = await post(`/api/public/rpc/${name}`, call);
    expect(await answer.json()).toEqual({ jsonrpc: "2.0", id: 1, result: "ok" });
  }
  const { address } = info.wallets[0]!.solana;
  for (const rpcUrl of [info.solana.rpcUrl, ...info.solana.upstreams]) {
    for (const tokenAddress of [info.solana.usdcMint, info.solana.token2022Mint]) {
      const request = { address, chainId: "Solana_Devnet", rpcUrl, tokenAddress };
      const answer = await post("/api/public/wallet/balance", request);
      expect(await answer.json()).toEqual({ balance: "10000000.000000" });
    }
  }
});

test("only the sandbox's own nodes may be named as rpcUrl", async () => {
  const { address } = info.wallets[0]!;
  const ask = async (rpcUrl: string) =>
    (await post("/api/public/wallet/balance", { address, chainId: "Arc", rpcUrl })).headers.get(
      "x-error-code",
    );
  const chain = info.chains["5042"]!;
  for (const url of [chain.rpcUrl, ...chain.upstreams]) expect(await ask(url)).toBeNull();
  const others = [
    info.baseUrl ?? "",
    ...info.services.priceFeeds,
    ...chain.upstreamControls,
    "http://127.0.0.1:1",
    "http://169.254.169.254/latest/meta-data",
  ];
  for (const url of others) expect(await ask(url)).toBe("RPC_URL_REFUSED");
});

test("prices come from the local feeds and the feeds on chain", async () => {
  const answer = await fetch(`${info.baseUrl}/api/public/prices`, {
    headers: { "x-api-key": info.keys!.read },
  });
  expect(answer.headers.get("x-price-sources")).toBe(
    "coingecko, coinbase, kraken, chainlink, bitstamp",
  );
  const metrics = await (await fetch(`${info.baseUrl}/metrics`)).text();
  expect(metrics).toContain('causeway_price_source_up{source="chainlink"} 1');
});

test("the head moves without transactions", async () => {
  const rpc = nodeRpc(info.chains["5042"]!.rpcUrl);
  const head = async () => Number(await rpc.call("eth_blockNumber"));
  const first = await head();
  const deadline = performance.now() + 10_000;
  while ((await head()) === first && performance.now() < deadline) await Bun.sleep(20);
  expect(await head()).toBeGreaterThan(first);
}, 60_000);

test("each key opens what its scope allows, and bench has no window limit", async () => {
  const prices = (key: string) =>
    fetch(`${info.baseUrl}/api/public/prices`, { headers: { "x-api-key": key } });
  const allowed = new Set(["all", "read", "bench"]);
  for (const [name, key] of Object.entries(info.keys!)) {
    expect([name, (await prices(key)).status]).toEqual([name, allowed.has(name) ? 200 : 403]);
  }
  const limit = (await prices(info.keys!.bench)).headers.get("x-ratelimit-limit");
  expect(Number(limit)).toBeGreaterThan(1_000_000_000);
});

test("every curl line that is printed works when pasted", async () => {
  const examples = curlExamples(info);
  expect(examples.length).toBeGreaterThanOrEqual(5);
  for (const { title, command } of examples) {
    const shell = Bun.spawn(["sh", "-c", `${command} -w '\\n%{http_code}'`], { stdout: "pipe" });
    const output = await new Response(shell.stdout).text();
    expect([title, output.split("\n").at(-1)]).toEqual([title, "200"]);
  }
}, 60_000);

test("the demo's walk holds: a quoted swap is received to the last unit", async () => {
  const steps: string[] = [];
  await walkSwap(createApiClient(info), info, (step) => steps.push(step));
  expect(steps.at(0)).toBe("price");
  expect(steps.at(-1)).toBe("check");
}, 60_000);

test("a second sandbox on the same directory is refused", async () => {
  expect(start()).rejects.toThrow(SandboxInUseError);
});

test("stopping ends every process, and the next start keeps the keys", async () => {
  await sandbox.stop();
  expect(existsSync(infoFile(dir))).toBe(false);
  expect(info.pids.filter(alive)).toEqual([]);

  sandbox = await start();
  expect(sandbox.info().keys).toEqual(info.keys);
  expect(sandbox.info().adminToken).toBe(info.adminToken);
}, 60_000);

/** Whether a process runs; one that ended and was not yet collected by its parent does not. */
function alive(pid: number): boolean {
  const state = Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)])
    .stdout.toString()
    .trim();
  return state !== "" && !state.startsWith("Z");
}

test("children end when the process that started them is killed", async () => {
  const script = join(import.meta.dir, "../support/startAndPrintPids.ts");
  const parent = Bun.spawn([process.execPath, script], { stdout: "pipe" });
  let text = "";
  for await (const chunk of parent.stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.endsWith("\n")) break;
  }
  const pids = JSON.parse(text) as number[];
  expect(pids.filter(alive)).toEqual(pids);
  parent.kill("SIGKILL");
  const deadline = performance.now() + 10_000;
  while (pids.some(alive) && performance.now() < deadline) await Bun.sleep(20);
  expect(pids.filter(alive)).toEqual([]);
}, 60_000);
