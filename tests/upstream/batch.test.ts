import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Chain } from "../../src/chains/index.ts";
import { textOf } from "../../src/lib/jsonSpan.ts";
import { createUpstreamPool, type RpcReply, type UpstreamPool } from "../../src/upstream/index.ts";
import { registryOf } from "./node.ts";

interface Item {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [string];
}

/** How a node answers an array; undefined: each item with its first parameter. */
type Answer = (items: readonly Item[], http: Request) => unknown;

const result = ({ id, params }: Item) => ({ jsonrpc: "2.0", id, result: params[0] });
const failure = ({ id }: Item, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

/** A node that takes arrays, with a ledger of what came in. */
function startBatchNode() {
  const arrays: Item[][] = [];
  const singles: Item[] = [];
  let answer: Answer | undefined;
  let single: ((item: Item) => unknown) | undefined;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(http) {
      const body = (await http.json()) as Item | Item[];
      if (Array.isArray(body)) {
        arrays.push(body);
        const given = await (answer?.(body, http) ?? body.map(result));
        return given instanceof Response ? given : Response.json(given);
      }
      const { id, method } = body;
      if (method === "eth_chainId") return Response.json({ id, result: "0x1" });
      if (method === "eth_blockNumber") return Response.json({ id, result: "0x64" });
      singles.push(body);
      const given = await (single?.(body) ?? result(body));
      return given instanceof Response ? given : Response.json(given);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    arrays,
    singles,
    answerArrays: (next: Answer) => (answer = next),
    answerSingles: (next: (item: Item) => unknown) => (single = next),
    stop: () => server.stop(true),
  };
}

let node: ReturnType<typeof startBatchNode>;
let pool: UpstreamPool;
let next = 0;

const poolWith = (
  members: Partial<Chain["upstreams"][number]>,
  others: Chain["upstreams"] = [],
) => {
  pool = createUpstreamPool({
    registry: registryOf([], { upstreams: [{ url: node.url, ...members }, ...others] }),
  });
  return pool;
};
const ask = (word = `0x${++next}`, method = "eth_call", options = {}) =>
  pool.call(1, { method, params: JSON.stringify([word]) }, options);
const resultOf = ({ bytes }: RpcReply): unknown =>
  JSON.parse(textOf(bytes, { start: 0, end: bytes.length })).result;
/** Asks many at once and gives their results, in the order they were asked. */
const askMany = async (words: readonly string[]) =>
  (await Promise.all(words.map((word) => ask(word)))).map(resultOf);
const words = (count: number) => Array.from({ length: count }, () => `0x${++next}`);
const ready = async () => {
  await ask();
  node.arrays.length = 0;
  node.singles.length = 0;
};

beforeEach(async () => {
  node = startBatchNode();
  poolWith({ batch: { maxItems: 10 } });
  await ready();
});
afterEach(async () => {
  pool.close();
  await node.stop();
});

describe("calls of a moment", () => {
  test("travel together, in arrays of at most the declared size", async () => {
    const wanted = words(35);
    expect(await askMany(wanted)).toEqual(wanted);
    expect(node.arrays.map(({ length }) => length)).toEqual([10, 10, 10, 5]);
    expect(node.singles).toEqual([]);
  });

  test("wait no longer than the end of the turn; one alone is no array", async () => {
    for (let n = 0; n < 3; n++) await ask();
    expect(node.arrays).toEqual([]);
    expect(node.singles).toHaveLength(3);
  });

  test("wait for company where that is declared", async () => {
    pool.close();
    poolWith({ batch: { maxItems: 10, maxWaitMs: 40 } });
    await ready();
    const early = ask();
    await Bun.sleep(5);
    await Promise.all([early, ask()]);
    expect(node.arrays.map(({ length }) => length)).toEqual([2]);
  });

  test("with methods of other kinds: heavy calls and the watch go alone", async () => {
    await Promise.all([ask(), ask(), ask("0x0", "debug_traceCall"), ask("0x0", "trace_block")]);
    expect(node.arrays.map((items) => items.map(({ method }) => method))).toEqual([
      ["eth_call", "eth_call"],
    ]);
    expect(node.singles).toHaveLength(2);
  });

  test("whose callers left before it was sent are not in it", async () => {
    const leaving = new AbortController();
    const left = ask("0xleft", "eth_call", { signal: leaving.signal });
    const stayed = askMany(words(2));
    leaving.abort();
    await expect(left).rejects.toThrow();
    await stayed;
    expect(node.arrays.flat().map(({ params }) => params[0])).not.toContain("0xleft");
  });

  test("all of whose callers left is ended at the node", async () => {
    const ended = Promise.withResolvers<void>();
    const leaving = new AbortController();
    node.answerArrays(async (_, http) => {
      leaving.abort();
      await new Promise((resolve) => http.signal.addEventListener("abort", resolve));
      ended.resolve();
      return new Response();
    });
    const left = [1, 2].map(() => ask(undefined, "eth_call", { signal: leaving.signal }));
    await Promise.allSettled(left);
    await ended.promise;
  });
});

describe("answers are told apart by their ids", () => {
  test.each<[string, Answer]>([
    ["in another order", (items) => items.map(result).toReversed()],
    ["with ids as text", (items) => items.map((one) => ({ ...result(one), id: String(one.id) }))],
    ["with one answered twice", (items) => [...items.map(result), result(items[0]!)]],
    [
      "with strangers between",
      (items) => [{ id: -1, result: "no" }, ...items.map(result), 7, null, "x"],
    ],
    [
      "with space around",
      (items) =>
        new Response(`\n [ ${items.map((one) => JSON.stringify(result(one))).join(" , ")} ] \n`),
    ],
  ])("%s", async (_, answer) => {
    node.answerArrays(answer);
    const wanted = words(5);
    expect(await askMany(wanted)).toEqual(wanted);
    expect(node.arrays).toHaveLength(1);
  });

  test("one that is missing is asked again, the others are answered", async () => {
    node.answerArrays((items) => items.slice(0, -1).map(result));
    const wanted = words(5);
    expect(await askMany(wanted)).toEqual(wanted);
    expect(node.arrays.flat().length + node.singles.length).toBe(6);
  });

  test("an error without id is nobody's answer", async () => {
    let isFirst = true;
    node.answerArrays((items) => {
      if (!isFirst) return items.map(result);
      isFirst = false;
      const stray = { ...failure(items[0]!, 3, "execution reverted"), id: null };
      return [stray, ...items.slice(1).map(result)];
    });
    const wanted = words(3);
    expect(await askMany(wanted)).toEqual(wanted);
  });
});

describe("each item is judged by itself", () => {
  test("a revert is one caller's, results are the others'", async () => {
    node.answerArrays((items) =>
      items.map((one, index) =>
        index === 1 ? failure(one, 3, "execution reverted") : result(one),
      ),
    );
    const replies = await Promise.all([ask(), ask(), ask()]);
    expect(replies.map(({ isError }) => isError)).toEqual([false, true, false]);
    expect(node.arrays).toHaveLength(1);
    expect(node.singles).toEqual([]);
  });

  test("a refusal for pace of every second item rests the account once", async () => {
    let refusals = 0;
    node.answerArrays((items) =>
      items.map((one, index) =>
        index % 2 === 1 && refusals++ < 5 ? failure(one, 429, "too many requests") : result(one),
      ),
    );
    const wanted = words(10);
    expect(await askMany(wanted)).toEqual(wanted);
    expect(pool.status()[0]?.pace.refusals).toBe(1);
  });

  test("HTTP 429 for all of them rests the account once, and all are answered later", async () => {
    let isFirst = true;
    node.answerArrays((items) => {
      if (!isFirst) return items.map(result);
      isFirst = false;
      return new Response("", { status: 429 });
    });
    const wanted = words(10);
    expect(await askMany(wanted)).toEqual(wanted);
    expect(pool.status()[0]?.pace.refusals).toBe(1);
    expect(pool.status()[0]?.failures).toBe(0);
  });

  test("a slow item delays only its own caller, and its method goes alone from then on", async () => {
    const slow = Promise.withResolvers<void>();
    node.answerArrays(async (items) => {
      if (items.some(({ method }) => method === "eth_slow")) await slow.promise;
      return items.map(result);
    });
    node.answerSingles(async (item) => {
      if (item.method === "eth_slow") await slow.promise;
      return result(item);
    });
    const startMs = performance.now();
    const late = ask("0xlate", "eth_slow");
    const others = askMany(words(4));
    // Another answer meanwhile shows that the node itself is well.
    await Bun.sleep(5);
    await ask();
    await others;
    expect(performance.now() - startMs).toBeLessThan(1_400);
    await Bun.sleep(800);
    slow.resolve();
    expect(resultOf(await late)).toBe("0xlate");
    node.arrays.length = 0;
    await Promise.all([ask(), ask("0x0", "eth_slow"), ask()]);
    expect(node.arrays.map((items) => items.map(({ method }) => method))).toEqual([
      ["eth_call", "eth_call"],
    ]);
  }, 60_000);
});

describe("a node that takes no arrays after all", () => {
  test.each<[string, Answer]>([
    [
      "one error for all",
      () => ({
        jsonrpc: "2.0",
        id: null,
        error: { code: -32_600, message: "batch not supported" },
      }),
    ],
    [
      "one error with HTTP 400",
      () =>
        Response.json(
          { id: null, error: { code: -32_600, message: "batch too large" } },
          { status: 400 },
        ),
    ],
  ])("%s: each call is sent by itself and answered", async (_, answer) => {
    node.answerArrays(answer);
    const wanted = words(8);
    expect(await askMany(wanted)).toEqual(wanted);
    expect(await askMany(wanted)).toEqual(wanted);
    expect(node.arrays).toHaveLength(1);
    expect(pool.status()[0]?.failures).toBe(0);
  });

  test.each<[string, Answer]>([
    ["HTML", () => new Response("<html>bad gateway</html>", { status: 502 })],
    ["nothing", () => new Response("")],
    ["a cut array", (items) => new Response(JSON.stringify(items.map(result)).slice(0, -3))],
  ])("%s is a failure of each, tried elsewhere", async (_, answer) => {
    pool.close();
    const other = startBatchNode();
    poolWith({ batch: { maxItems: 10 } }, [{ url: other.url }]);
    await ready();
    while (pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
    node.answerArrays(answer);
    const wanted = words(8);
    expect(await askMany(wanted)).toEqual(wanted);
    await other.stop();
  });
});

/** Time that so many calls at once take, ms. */
async function timeOf(count: number): Promise<number> {
  const startMs = performance.now();
  await askMany(words(count));
  return performance.now() - startMs;
}

describe("the account's rate", () => {
  test("counts items where nothing else is declared", async () => {
    pool.close();
    poolWith({ batch: { maxItems: 10 }, requestsPerSecond: 40 });
    await ready();
    expect(await timeOf(60)).toBeGreaterThan(950);
  });

  test("counts whole requests where that is declared", async () => {
    pool.close();
    poolWith({ batch: { maxItems: 10, countAs: "requests" }, requestsPerSecond: 40 });
    await ready();
    expect(await timeOf(200)).toBeLessThan(900);
    expect(node.arrays).toHaveLength(20);
  });

  test("of whole requests is never exceeded", async () => {
    pool.close();
    poolWith({ batch: { maxItems: 5, countAs: "requests" }, requestsPerSecond: 10 });
    await ready();
    const arrivals: number[] = [];
    node.answerArrays((items) => {
      arrivals.push(performance.now());
      return items.map(result);
    });
    await askMany(words(100));
    for (const from of arrivals) {
      expect(arrivals.filter((ms) => ms >= from && ms < from + 1_000).length).toBeLessThanOrEqual(
        10,
      );
    }
  }, 60_000);
});
