import { afterEach, describe, expect, test } from "bun:test";
import { createMetrics, observeUpstreams, silentLogger } from "../../src/telemetry/index.ts";
import { createUpstreamPool } from "../../src/upstream/index.ts";
import { publicHost, scrub, secretsOf } from "../../src/upstream/secrets.ts";
import { registryOf, startNode } from "./node.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const cleaned = (url: string, text: string) =>
  Buffer.from(scrub(Buffer.from(text), secretsOf(new URL(url)))).toString();

describe("secrets of a URL", () => {
  const key = "a1b2c3d4e5f6a7b8c9d0";
  test.each([
    [`https://x.io/v2/${key}`, `bad key ${key}!`, `bad key ${"*".repeat(20)}!`],
    [
      `https://x.io/v2/${key}`,
      `POST https://x.io/v2/${key} 403`,
      `POST https://x.io${"*".repeat(24)} 403`,
    ],
    [`https://x.io/?apikey=short7`, "key short7", "key ******"],
    [`https://x.io/rpc?network=mainnet`, "on mainnet", "on mainnet"],
    ["https://user12:p%40ssword@x.io/", "user12 p@ssword p%40ssword", "****** ******** **********"],
    [
      `https://x.io/a/${key}`,
      `{"url":"https:\\/\\/x.io\\/a\\/${key}"}`,
      `{"url":"https:\\/\\/x.io${"*".repeat(25)}"}`,
    ],
    ["https://x.io/", "nothing / to hide", "nothing / to hide"],
    ["https://x.io/ethereum/mainnet", "ethereum mainnet", "ethereum mainnet"],
  ])("%s: %s", (url, text, expected) => {
    const found = cleaned(url, text);
    expect(found).toHaveLength(text.length);
    expect(found).toBe(expected);
  });

  test("as a Basic credential too", () => {
    const text = `authorization: Basic ${btoa("user12:p@ssword")}`;
    expect(cleaned("https://user12:p%40ssword@x.io/", text)).not.toContain(btoa("user12"));
  });

  test("in the host are not shown either", () => {
    expect(publicHost(new URL("https://ab12cd34ef56ab12cd34ef.vendor.io/"))).toBe(
      "ab12***.vendor.io",
    );
    expect(publicHost(new URL("https://eth-mainnet.g.vendor.io:8443/x"))).toBe(
      "eth-mainnet.g.vendor.io:8443",
    );
    expect(publicHost(new URL("http://[::1]:8545/"))).toBe("[::1]:8545");
  });
});

describe("a node that repeats the key it was given", () => {
  const key = "5up3rs3cr3tk3y0123456789";
  const errors = [
    { code: 3, message: `execution reverted at /v2/${key}`, data: "0x08c379a0" },
    { code: -32_601, message: `method not allowed for ${key}` },
    { code: -32_000, message: `unknown failure for https://127.0.0.1/v2/${key}?token=${key}` },
    { code: -32_603, message: `internal error ${key}` },
    { code: 429, message: `rate limit of ${key}` },
    { code: -32_000, message: `bad ${key}`, data: { url: `/v2/${key}` } },
  ];

  test.each(errors)("never passes it on: %j", async (told) => {
    const node = startNode();
    closers.push(() => node.kill());
    const logged: string[] = [];
    const note = (fields: object, message: string) =>
      void logged.push(`${message} ${JSON.stringify(fields)}`);
    const metrics = createMetrics();
    const url = new URL(node.url);
    const pool = createUpstreamPool({
      registry: registryOf([`${url.origin}/v2/${key}?token=${key}`]),
      observer: observeUpstreams(
        metrics,
        { ...silentLogger, info: note, warn: note, error: note },
        { status: () => pool.status(), memory: () => pool.memory },
      ),
    });
    closers.push(() => pool.close());
    node.behave(({ id }) => Response.json({ jsonrpc: "2.0", id, error: told }));
    const seen: string[] = [];
    for (const method of ["eth_call", "eth_sendRawTransaction", "debug_traceCall", "eth_call"]) {
      const call = { method, params: '["0x02"]' };
      const settled = await Promise.allSettled([pool.call(1, call, { deadlineMs: 200 })]);
      for (const one of settled) {
        if (one.status === "fulfilled") seen.push(Buffer.from(one.value.bytes).toString());
        else seen.push(Bun.inspect(one.reason), String(one.reason.stack));
      }
    }
    seen.push(JSON.stringify(pool.status()), await metrics.render(), ...logged);
    expect(seen.join("\n")).not.toContain(key);
    expect(seen.join("\n")).not.toContain("s3cr3t");
    expect(seen.join("\n")).toContain(url.host);
  });

  test("gets other errors through byte for byte", async () => {
    const node = startNode();
    closers.push(() => node.kill());
    const pool = createUpstreamPool({ registry: registryOf([`${node.url}/v2/${key}`]) });
    closers.push(() => pool.close());
    const error = { code: 3, message: "execution reverted: \u00fc\\n", data: "0x08c379a0" };
    node.behave(({ id }) => Response.json({ jsonrpc: "2.0", id, error }));
    const { bytes } = await pool.call(1, { method: "eth_call", params: "[]" });
    expect(JSON.parse(Buffer.from(bytes).toString()).error).toEqual(error);
  });
});
