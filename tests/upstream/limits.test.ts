import { afterEach, describe, expect, test } from "bun:test";
import type { Chain } from "../../src/chains/index.ts";
import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import {
  createUpstreamPool,
  type UpstreamPool,
  UpstreamUnavailableError,
} from "../../src/upstream/index.ts";
import { timedTest } from "../support/timing.ts";
import { load } from "./load.ts";
import { registryOf, rpcError, startNode, type TestNode } from "./node.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function node(): TestNode {
  const started = startNode();
  closers.push(() => started.kill());
  return started;
}

async function faultNode(): Promise<FaultNode> {
  const started = await startFaultNode({ target: node().url });
  closers.push(() => started.stop());
  return started;
}

function poolOver(upstreams: Chain["upstreams"]): UpstreamPool {
  const pool = createUpstreamPool({ registry: registryOf([], { upstreams }) });
  closers.push(() => pool.close());
  return pool;
}

let next = 0;
const call = (pool: UpstreamPool, options = {}) =>
  pool.call(1, { method: "eth_call", params: `["${++next}"]` }, options);
const paceOf = (pool: UpstreamPool, index = 0) => pool.status()[index]!.pace;

/** Notes when each request reaches a node. */
function clockIn(target: TestNode): number[] {
  const arrivals: number[] = [];
  target.behaveAlways(({ method }) => {
    arrivals.push(performance.now());
    return method === "eth_chainId" ? "0x1" : "0x64";
  });
  return arrivals;
}

const mostWithinSecond = (arrivals: readonly number[]) =>
  Math.max(
    ...arrivals.map((from) => arrivals.filter((ms) => ms >= from && ms < from + 1_000).length),
  );

describe("declared limits", () => {
  timedTest(
    "hold at double demand, and what is too much goes to others",
    { timeoutMs: 15_000 },
    async () => {
      const [small, large] = [node(), node()];
      const arrivals = clockIn(small);
      const pool = poolOver([{ url: small.url, requestsPerSecond: 40 }, { url: large.url }]);
      const { failed, sent } = await load(pool, {
        perSecond: 160,
        forMs: 4_000,
        method: "eth_call",
      });
      expect(failed).toBe(0);
      expect(sent).toBeGreaterThan(600);
      expect(mostWithinSecond(arrivals)).toBeLessThanOrEqual(40);
      expect(large.calls().length).toBeGreaterThan(400);
    },
  );

  test("of requests in flight hold at the node, also for those whose callers left", async () => {
    const only = node();
    let inFlight = 0;
    let most = 0;
    only.behave(async () => {
      most = Math.max(most, ++inFlight);
      await Bun.sleep(10);
      inFlight--;
      return "0x1";
    });
    const pool = poolOver([{ url: only.url, maxConcurrent: 4 }]);
    for (let n = 0; n < 20; n++) await call(pool);
    const settled = await Promise.allSettled(
      Array.from({ length: 300 }, (_, index) =>
        call(pool, index % 3 === 0 ? { deadlineMs: 5 + (index % 40) } : {}),
      ),
    );
    expect(settled.some(({ status }) => status === "rejected")).toBe(true);
    expect(most).toBe(4);
  });

  test("hold when there is no other, the watch included; some wait and the rest is refused", async () => {
    const only = node();
    const arrivals = clockIn(only);
    const pool = poolOver([{ url: only.url, requestsPerSecond: 20, maxConcurrent: 4 }]);
    const outcomes = await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        Bun.sleep(index * 25).then(() =>
          call(pool, { deadlineMs: 1_000 }).then(
            () => "answered",
            (error: unknown) => (error instanceof UpstreamUnavailableError ? error : "odd"),
          ),
        ),
      ),
    );
    expect(mostWithinSecond(arrivals)).toBeLessThanOrEqual(20);
    const refused = outcomes.filter((outcome) => outcome instanceof UpstreamUnavailableError);
    expect(outcomes).not.toContain("odd");
    expect(outcomes.length - refused.length).toBeGreaterThan(55);
    expect(refused.length).toBeGreaterThan(10);
    expect(refused.some(({ retryAfterMs }) => retryAfterMs !== undefined)).toBe(true);
    expect(pool.head(1)).toBe(100);
  }, 60_000);
});

describe("a hidden cap", () => {
  timedTest(
    "is found through the pool, and nearly nothing is refused after that",
    { timeoutMs: 30_000 },
    async () => {
      const capped = await faultNode();
      await capped.setFaults([{ kind: "rateCap", requests: 100, windowMs: 1_000 }]);
      const free = await faultNode();
      const pool = poolOver([{ url: capped.url }, { url: free.url }]);
      await load(pool, { perSecond: 400, forMs: 6_000 });
      capped.ledger.reset();
      const before = paceOf(pool).refusals;
      const { failed } = await load(pool, { perSecond: 400, forMs: 8_000 });
      const taken = capped.ledger.counts().requests;
      expect(failed).toBe(0);
      // Below the cap it is the choice that decides, by how fast both nodes are at the moment.
      expect(taken / 8).toBeWithin(50, 105);
      expect((paceOf(pool).refusals - before) / taken).toBeLessThan(0.01);
      expect(paceOf(pool).learnedPerSecond).toBeWithin(90, 110);
    },
  );

  test("of the only node makes callers wait, and fails none who has the time", async () => {
    const capped = await faultNode();
    await capped.setFaults([{ kind: "rateCap", requests: 50, windowMs: 1_000, as: "rpcError" }]);
    const pool = poolOver([{ url: capped.url }]);
    const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => call(pool)));
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  }, 60_000);
});

describe("a refusal for pace", () => {
  const limits: [string, (id: number) => Response][] = [
    ["HTTP 429", () => new Response("slow down", { status: 429 })],
    ["HTTP 429 with an empty body", () => new Response(null, { status: 429 })],
    ["HTTP 402", () => new Response("", { status: 402 })],
    [
      "HTTP 503 with Retry-After",
      () => new Response("", { status: 503, headers: { "retry-after": "1" } }),
    ],
    ...(
      [
        [-32_005, "daily request count exceeded, request rate limited"],
        [-32_007, "50/second request limit reached - reduce calls per second or upgrade"],
        [-32_011, "request limit reached"],
        [-32_012, "credits limited to 1000/s"],
        [-32_029, "Too Many Requests"],
        [429, "Your app has exceeded its compute units per second capacity"],
        [15, "Too many request, try again later"],
        [-32_000, "project rate limit exceeded"],
        [-32_603, "You have exceeded your monthly quota"],
      ] as const
    ).map(([code, message]): [string, (id: number) => Response] => [
      `${code} ${message}`,
      (id) => Response.json({ jsonrpc: "2.0", id, error: { code, message } }),
    ]),
  ];
  test.each(limits)(
    "%s: the account rests and the call is answered elsewhere",
    async (_, answer) => {
      const [limited, other] = [node(), node()];
      const pool = poolOver([{ url: limited.url }, { url: other.url }]);
      await call(pool);
      while (pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
      limited.behave(({ id }) => answer(id));
      other.requests.length = 0;
      limited.requests.length = 0;
      const ask = async () => expect((await call(pool)).isError).toBe(false);
      // How soon it is chosen depends on how fast both have been so far.
      for (let n = 0; n < 10_000 && limited.calls().length === 0; n++) await ask();
      for (let n = 0; n < 40; n++) await ask();
      expect(limited.calls()).toHaveLength(1);
      expect(paceOf(pool).heldMs).toBeGreaterThan(0);
      expect(pool.status()[0]).toMatchObject({
        state: "active",
        reason: "rate-limited",
        failures: 0,
      });
    },
  );

  test("Retry-After as an HTTP date is a floor", async () => {
    const limited = node();
    const pool = poolOver([{ url: limited.url }]);
    await call(pool);
    const until = new Date(Date.now() + 20_000).toUTCString();
    limited.behave(() => new Response("", { status: 429, headers: { "retry-after": until } }));
    const error: unknown = await call(pool).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UpstreamUnavailableError);
    expect((error as UpstreamUnavailableError).retryAfterMs).toBeWithin(18_000, 20_001);
    expect(limited.calls()).toHaveLength(2);
  });

  test("of a broadcast makes it wait for the only node", async () => {
    const limited = node();
    const pool = poolOver([{ url: limited.url }]);
    await call(pool);
    let isFirst = true;
    limited.behave(() => {
      if (!isFirst) return `0x${"1".repeat(64)}`;
      isFirst = false;
      return new Response("", { status: 429, headers: { "retry-after": "1" } });
    });
    const reply = await pool.call(1, { method: "eth_sendRawTransaction", params: '["0x02"]' });
    expect(reply.isError).toBe(false);
  });

  test("rests every upstream of a declared account, on whatever chain path", async () => {
    const [one, same, other] = [node(), node(), node()];
    const pool = poolOver([
      { url: one.url, account: "a" },
      { url: same.url, account: "a" },
      { url: other.url, account: "b" },
    ]);
    await call(pool);
    while (pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
    one.behave(() => new Response("", { status: 429 }));
    same.behave(() => new Response("", { status: 429 }));
    for (let n = 0; n < 30; n++) await call(pool);
    expect(one.calls().length + same.calls().length - 1).toBeLessThanOrEqual(1);
  });
});

describe("a method a node does not serve", () => {
  const unsupported = {
    code: -32_601,
    message: "the method eth_call does not exist/is not available",
  };

  test("is not asked of it again, while others serve it; its other methods are", async () => {
    const [poor, rich] = [node(), node()];
    const pool = poolOver([{ url: poor.url }, { url: rich.url }]);
    await call(pool);
    while (pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
    poor.behave((request) =>
      request.method === "eth_call" ? rpcError(request, unsupported) : "0x1",
    );
    poor.requests.length = 0;
    for (let n = 0; n < 50; n++) expect((await call(pool)).isError).toBe(false);
    expect(poor.calls().filter(({ method }) => method === "eth_call")).toHaveLength(1);
    expect(pool.status()[0]?.lacks).toEqual(["eth_call"]);
    for (let n = 0; n < 30; n++) {
      await pool.call(1, { method: "eth_getBalance", params: `["0x${n}"]` });
    }
    expect(poor.calls().length).toBeGreaterThan(5);
  });

  test("is asked of all when none is known to serve it, and the answer is the nodes' own", async () => {
    const [one, other] = [node(), node()];
    const pool = poolOver([{ url: one.url }, { url: other.url }]);
    for (const each of [one, other]) each.behave((request) => rpcError(request, unsupported));
    expect((await call(pool)).isError).toBe(true);
    expect((await call(pool)).isError).toBe(true);
    other.behave(() => "0x2");
    one.behave(() => "0x2");
    expect((await call(pool)).isError).toBe(false);
    expect(pool.status().some(({ lacks }) => lacks.length === 0)).toBe(true);
  });
});
