import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { BaseError, createPublicClient, RpcRequestError } from "viem";
import { textOf } from "../../src/lib/jsonSpan.ts";
import {
  createUpstreamPool,
  type RpcReply,
  type UpstreamPool,
  UpstreamUnavailableError,
} from "../../src/upstream/index.ts";
import { hang, registryOf, rpcError, startNode, type TestNode } from "./node.ts";

let nodes: TestNode[];
let pool: UpstreamPool;

beforeEach(() => {
  nodes = [startNode(), startNode(), startNode()];
  pool = createUpstreamPool({ registry: registryOf(nodes.map(({ url }) => url)) });
});
afterEach(async () => {
  pool.close();
  await Promise.all(nodes.map((node) => node.kill()));
});

const call = (method = "eth_call", options = {}) =>
  pool.call(1, { method, params: undefined }, options);
const allCalls = () => nodes.flatMap((node) => node.calls());
const resultOf = ({ bytes }: RpcReply) =>
  JSON.parse(textOf(bytes, { start: 0, end: bytes.length })).result;
const ready = async () => {
  await call();
  while (pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
  for (const node of nodes) node.requests.length = 0;
};

describe("identity", () => {
  test("a node of another chain is never sent a call", async () => {
    nodes[0]?.setChainId(2);
    for (let n = 0; n < 100; n++) await call();
    expect(nodes[0]?.calls()).toEqual([]);
    const states = pool.status().map(({ state }) => state);
    expect(states).toEqual(["wrong-chain", "active", "active"]);
  });

  test("not even when there is no other", async () => {
    for (const node of nodes) node.setChainId(2);
    await expect(call()).rejects.toBeInstanceOf(UpstreamUnavailableError);
    expect(allCalls()).toEqual([]);
  });

  test("it is looked at again before a node that was down is used", async () => {
    await ready();
    const [moved] = nodes as [TestNode];
    moved.behaveAlways(() => new Response("", { status: 500 }));
    while (pool.status()[0]?.state !== "ejected") await call();
    moved.setChainId(2);
    moved.behaveAlways(undefined);
    moved.requests.length = 0;
    while (pool.status()[0]?.state !== "wrong-chain") await call();
    expect(moved.calls()).toEqual([]);
  }, 60_000);

  test("the first call does not wait for a node that hangs", async () => {
    nodes[0]?.behaveAlways(hang);
    nodes[1]?.behaveAlways(hang);
    const startMs = performance.now();
    await call();
    expect(performance.now() - startMs).toBeLessThan(500);
  });
});

describe("head", () => {
  test("is the highest any node has shown, and does not move back", async () => {
    nodes[1]?.setHead(105);
    await ready();
    expect(pool.head(1)).toBe(105);
    nodes[1]?.setHead(90);
    while (pool.status()[1]?.head !== 90) await Bun.sleep(5);
    expect(pool.head(1)).toBe(105);
  });

  test("a node far behind is not asked while another is near the head", async () => {
    nodes[0]?.setHead(50);
    await ready();
    for (let n = 0; n < 200; n++) await call();
    expect(nodes[0]?.calls()).toEqual([]);
  });
});

describe("errors of nodes", () => {
  const revert = { code: 3, message: "execution reverted", data: "0x08c379a0" };

  test("a revert is the caller's, after one request", async () => {
    await ready();
    for (const node of nodes) node.behave((request) => rpcError(request, revert));
    const reply = await call();
    expect([reply.isError, reply.attempts, allCalls().length]).toEqual([true, 1, 1]);
  });

  test("data one node lacks is asked of another", async () => {
    await ready();
    const missing = { code: -32_000, message: "header not found" };
    nodes[0]?.behave((request) => rpcError(request, missing));
    nodes[1]?.behave((request) => rpcError(request, missing));
    for (let n = 0; n < 5; n++) expect((await call()).isError).toBe(false);
  });

  test("what every node says reaches the caller", async () => {
    await ready();
    const unknown = { code: -32_601, message: "Method not found" };
    for (const node of nodes) node.behave((request) => rpcError(request, unknown));
    const reply = await call();
    expect(reply.isError).toBe(true);
    expect(reply.attempts).toBeLessThanOrEqual(3);
    expect(pool.status().map(({ failures }) => failures)).toEqual([0, 0, 0]);
  });

  test("none names a URL", async () => {
    for (const node of nodes) await node.kill();
    const error: unknown = await call().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UpstreamUnavailableError);
    expect(Bun.inspect(error)).not.toContain("key-in-path");
    expect(JSON.stringify(pool.status())).not.toContain("key-in-path");
  });
});

describe("time", () => {
  test("a slow node is overtaken by a second one", async () => {
    await ready();
    for (const node of nodes) node.behave(hang);
    nodes[2]?.behave(() => "0x7");
    const replies = await Promise.all([call(), call(), call()]);
    expect(replies.map(resultOf)).toEqual(["0x7", "0x7", "0x7"]);
  });

  test("the deadline holds to within 50 ms, and ends what is under way", async () => {
    await ready();
    const ends: Promise<unknown>[] = [];
    for (const node of nodes) {
      node.behave((request, http) => {
        const answer = hang(request, http);
        ends.push(Promise.resolve(answer));
        return answer;
      });
    }
    const startMs = performance.now();
    await expect(call("eth_call", { deadlineMs: 400 })).rejects.toBeInstanceOf(
      UpstreamUnavailableError,
    );
    const elapsedMs = performance.now() - startMs;
    expect(elapsedMs).toBeGreaterThan(390);
    expect(elapsedMs).toBeLessThan(450);
    expect(ends.length).toBeGreaterThan(0);
    await Promise.all(ends);
    expect(performance.now() - startMs).toBeLessThan(600);
  });

  test("a caller who leaves ends the request at the node", async () => {
    await ready();
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    for (const node of nodes) {
      node.behave(async (request, http) => {
        begun.resolve();
        const answer = await hang(request, http);
        ended.resolve();
        return answer;
      });
    }
    const leaving = new AbortController();
    const pending = call("eth_call", { signal: leaving.signal });
    await begun.promise;
    const startMs = performance.now();
    leaving.abort(new Error("gone"));
    await expect(pending).rejects.toThrow("gone");
    await ended.promise;
    expect(performance.now() - startMs).toBeLessThan(50);
    expect(pool.status().map(({ failures }) => failures)).toEqual([0, 0, 0]);
  });

  test("a call that takes long everywhere is answered", async () => {
    await ready();
    for (const node of nodes) {
      node.behave(async () => {
        await Bun.sleep(1_900);
        return "0x9";
      });
    }
    expect(resultOf(await call())).toBe("0x9");
  }, 60_000);
});

/** A pool over the first node alone, with limits. */
function limited(members: { maxConcurrent?: number; requestsPerSecond?: number }) {
  const upstreams = [{ url: nodes[0]?.url ?? "", ...members }];
  return createUpstreamPool({ registry: registryOf([], { upstreams }) });
}

const isOurs = (error: unknown) => error instanceof UpstreamUnavailableError;

describe("limits", () => {
  test("requests in flight stay within the upstream's limit, and all are answered", async () => {
    const own = limited({ maxConcurrent: 3 });
    let inFlight = 0;
    let most = 0;
    nodes[0]?.behave(async () => {
      most = Math.max(most, ++inFlight);
      await Bun.sleep(5);
      inFlight--;
      return "0x1";
    });
    const sent = Array.from({ length: 50 }, (_, n) =>
      own.call(1, { method: "eth_call", params: `[${n}]` }),
    );
    await Promise.all(sent);
    expect(most).toBe(3);
    own.close();
  });

  test("the declared rate is not exceeded, and all are answered", async () => {
    const own = limited({ requestsPerSecond: 50 });
    const startMs = performance.now();
    const sent = Array.from({ length: 100 }, (_, n) =>
      own.call(1, { method: "eth_call", params: `[${n}]` }),
    );
    await Promise.all(sent);
    // Fifty at once, and the rest at fifty per second.
    expect(performance.now() - startMs).toBeGreaterThan(950);
    own.close();
  });
});

describe("viem transport", () => {
  test("serves a client, and gives viem's own errors", async () => {
    const client = createPublicClient({ transport: pool.transport(1) });
    expect(await client.getBlockNumber()).toBe(100n);
    const revert = { code: 3, message: "execution reverted", data: "0x08c379a0" };
    for (const node of nodes) node.behave((request) => rpcError(request, revert));
    const error: unknown = await client
      .call({ to: "0x0000000000000000000000000000000000000001" })
      .catch((caught: unknown) => caught);
    const cause = error instanceof BaseError && error.walk((one) => one instanceof RpcRequestError);
    expect(cause).toMatchObject({ code: 3, data: "0x08c379a0" });
  });

  test("an unreachable chain is told by the pool's own error within viem's", async () => {
    for (const node of nodes) await node.kill();
    const client = createPublicClient({ transport: pool.transport(1) });
    const error: unknown = await client.getBlockNumber().catch((caught: unknown) => caught);
    expect(error instanceof BaseError && error.walk(isOurs)).toBeInstanceOf(
      UpstreamUnavailableError,
    );
  });
});

describe("callers' own URLs", () => {
  test("go through the guard, verify the chain, and one that is configured needs neither", async () => {
    const stranger = startNode();
    const checked: string[] = [];
    const own = createUpstreamPool({
      registry: registryOf([nodes[0]?.url ?? ""]),
      guard: {
        check: async (url) => {
          checked.push(url);
          return { url: new URL(url), address: undefined };
        },
      },
    });
    const client = (url: string) =>
      createPublicClient({ transport: own.externalTransport(1, url) });
    expect(await client(stranger.url).getBlockNumber()).toBe(100n);
    expect(await client(nodes[0]?.url ?? "").getBlockNumber()).toBe(100n);
    expect(checked).toEqual([stranger.url]);

    const wrong = startNode();
    wrong.setChainId(9);
    await expect(client(wrong.url).getGasPrice()).rejects.toThrow();
    expect(wrong.calls()).toEqual([]);
    own.close();
    await Promise.all([stranger.kill(), wrong.kill()]);
  });

  test("are refused without a guard", async () => {
    const client = createPublicClient({
      transport: pool.externalTransport(1, "http://127.0.0.1:1"),
    });
    await expect(client.getBlockNumber()).rejects.toThrow("rpcUrl is not allowed");
  });
});
