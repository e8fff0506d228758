import { afterAll, describe, expect, test } from "bun:test";
import { corpusNames, refusedUrls } from "../upstream/guard.corpus.ts";
import { balanceApp } from "./support.ts";

/** What a caller must not reach: it counts whoever does. */
let reached = 0;
const canary = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch() {
    reached++;
    return Response.json({ jsonrpc: "2.0", id: 1, result: "0x4cef52" });
  },
});
const redirecting = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const status = Number(new URL(request.url).pathname.slice(1));
    return Response.redirect(canary.url.href, status);
  },
});
let lookups = 0;
const rebound: string[] = [];
const app = await balanceApp({
  override: {},
  allowedOrigins: [redirecting.url.origin],
  resolve(name) {
    lookups++;
    if (name === "silent.example.com") return new Promise(() => undefined);
    if (name === "rebind.example.com") return Promise.resolve([rebound.shift() ?? "127.0.0.1"]);
    const found = corpusNames[name.replace(/\.$/, "")];
    return found ? Promise.resolve(found) : Promise.reject(new Error("ENOTFOUND"));
  },
});
afterAll(async () => {
  app.close();
  await Promise.all([canary.stop(true), redirecting.stop(true)]);
});

const request = { address: "0x00000000000000000000000000000000C0FFEE01", chainId: "Arc_Testnet" };
const refusals = new Set([
  "RPC_URL_REFUSED",
  "RPC_URL_UNREACHABLE",
  "INVALID_FIELD",
  "MISSING_FIELD",
]);

/** The canary itself, named in every way that reaches it when it is not refused. */
const port = canary.port;
const canaryUrls = [
  `http://127.0.0.1:${port}`,
  `http://localhost:${port}`,
  `http://0.0.0.0:${port}`,
  `http://[::1]:${port}`,
  `http://[::ffff:127.0.0.1]:${port}`,
  `http://2130706433:${port}`,
  `http://0x7f.1:${port}`,
  `http://017700000001:${port}`,
  `http://127.1:${port}`,
  `http://loopback.example.com:${port}`,
  `http://localhost.:${port}`,
  `http://127.0.0.1.:${port}`,
  `http://x:y@127.0.0.1:${port}`,
  `http://${redirecting.hostname}:${port}`,
];

describe("POST /api/public/wallet/balance, 400 for URLs that lead inside", () => {
  test("each of the corpus of at least 150 is refused within a second, and nothing is reached", async () => {
    const urls = [...refusedUrls, ...canaryUrls];
    expect(urls.length).toBeGreaterThanOrEqual(150);
    const wrong: string[] = [];
    for (const rpcUrl of urls) {
      const started = performance.now();
      const { status, code } = await app.ask({ ...request, rpcUrl });
      const tookMs = performance.now() - started;
      if (status !== 400 || !refusals.has(code ?? "") || tookMs > 1_000) {
        wrong.push(`${rpcUrl}: ${status} ${code} after ${Math.round(tookMs)} ms`);
      }
    }
    expect(wrong).toEqual([]);
    expect(reached).toBe(0);
  });

  test("a redirect of any kind is not followed", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const started = performance.now();
      const answer = await app.ask({ ...request, rpcUrl: `${redirecting.url.origin}/${status}` });
      expect(answer).toMatchObject({ status: 400, code: "RPC_URL_UNREACHABLE" });
      expect(performance.now() - started).toBeLessThan(1_000);
    }
    expect(reached).toBe(0);
  });

  test("a name is resolved once per request, and each request judges its own answer", async () => {
    rebound.push("10.0.0.1", "127.0.0.1", "169.254.169.254");
    for (let i = 0; i < 3; i++) {
      const before = lookups;
      const answer = await app.ask({ ...request, rpcUrl: "https://rebind.example.com/" });
      expect(answer).toMatchObject({ status: 400, code: "RPC_URL_UNREACHABLE" });
      expect(lookups - before).toBe(1);
    }
    expect(reached).toBe(0);
  });

  test("a resolver that never answers costs less than a second", async () => {
    const started = performance.now();
    const answer = await app.ask({ ...request, rpcUrl: "https://silent.example.com/" });
    expect(answer).toMatchObject({ status: 400, code: "RPC_URL_UNREACHABLE" });
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
