import { afterEach, beforeEach, describe, expect } from "bun:test";
import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import type { Fault } from "../../src/sandbox/faults/model.ts";
import { createUpstreamPool, type UpstreamPool } from "../../src/upstream/index.ts";
import { timedTest, timedTestEach } from "../support/timing.ts";
import { load } from "./load.ts";
import { registryOf, startNode } from "./node.ts";

const target = startNode();
let nodes: FaultNode[];
let pool: UpstreamPool;

const setUp = async () => {
  nodes = await Promise.all([0, 1, 2].map(() => startFaultNode({ target: target.url })));
  pool = createUpstreamPool({ registry: registryOf(nodes.map(({ url }) => url)) });
};
const tearDown = async () => {
  pool.close();
  await Promise.all(nodes.map((node) => node.stop()));
};
const renew = async () => {
  await tearDown();
  await setUp();
};
beforeEach(setUp);
afterEach(tearDown);

const statusOf = (node: FaultNode) =>
  pool.status().find(({ name }) => name.endsWith(`:${node.port}`))!;
const callsAt = (node: FaultNode) => node.ledger.counts().methods["eth_getBalance"] ?? 0;

/** Faults a node of three has in the middle of a load that no caller may notice. */
const faults: [string, Fault][] = [
  ["is killed", { kind: "down" }],
  ["hangs", { kind: "hang" }],
  ["answers 500", { kind: "status", status: 500, body: "html" }],
  ["answers garbage", { kind: "garbage" }],
  ["cuts answers short", { kind: "truncate" }],
  ["resets connections", { kind: "reset" }],
  ["answers with wrong ids", { kind: "wrongId" }],
  ["rate-limits with a status", { kind: "rateLimit", as: "status", retryAfterSeconds: 1 }],
  ["rate-limits inside HTTP 200", { kind: "rateLimit", as: "rpcError" }],
  ["fails internally", { kind: "rpcError", code: -32603, message: "Internal error" }],
];

describe("one of three nodes at 200 requests per second", () => {
  timedTestEach(
    faults,
    "no caller notices that it %s, and it is back within 2 s",
    { renew, timeoutMs: 15_000 },
    async (_, fault) => {
      const [sick] = nodes as [FaultNode, FaultNode, FaultNode];
      let failuresAtCure = 0;
      let callsAtCure = 0;
      let curedAtMs = 0;
      const cure = async () => {
        failuresAtCure = statusOf(sick).failures;
        await sick.setFaults([]);
        callsAtCure = callsAt(sick);
        curedAtMs = performance.now();
      };
      const isBack = () => callsAt(sick) >= callsAtCure + 5;
      const result = await load(pool, {
        perSecond: 200,
        forMs: 5_000,
        steps: new Map<number, () => unknown>([
          [300, () => sick.setFaults([fault])],
          [1_100, cure],
        ]),
        done: isBack,
      });
      expect(result.failed).toBe(0);
      // Three in traffic eject it; the rest are probes of a node known to be sick.
      expect(failuresAtCure).toBeLessThanOrEqual(6);
      expect(statusOf(sick).state).toBe("active");
      expect(isBack()).toBe(true);
      expect(performance.now() - curedAtMs).toBeLessThan(2_000);
    },
  );
});

describe("load", () => {
  timedTest("equal nodes share it evenly", { renew, timeoutMs: 20_000 }, async () => {
    // What a process's first calls take says nothing of the nodes.
    await load(pool, { perSecond: 200, forMs: 2_000 });
    for (const node of nodes) node.ledger.reset();
    for (let round = 0; round < 100; round++) {
      await Promise.all(
        Array.from({ length: 60 }, (_, caller) =>
          pool.call(1, { method: "eth_getBalance", params: `["0x${caller}"]` }),
        ),
      );
    }
    const shares = nodes.map(callsAt);
    expect(Math.max(...shares) / Math.min(...shares)).toBeLessThanOrEqual(1.2);
  });

  timedTest(
    "a node that fails 60 % of its answers gets less than 5 % of it",
    { renew, timeoutMs: 15_000 },
    async () => {
      const [poor] = nodes as [FaultNode, FaultNode, FaultNode];
      await poor.setFaults([{ kind: "status", status: 500, probability: 0.6 }], 7);
      const result = await load(pool, { perSecond: 300, forMs: 3_000 });
      expect(result.failed).toBe(0);
      expect(callsAt(poor) / result.sent).toBeLessThan(0.05);
    },
  );

  timedTest(
    "when every node fails, callers cause at most 1.2 requests each",
    { renew, timeoutMs: 15_000 },
    async () => {
      await load(pool, { perSecond: 200, forMs: 500 });
      for (const node of nodes) {
        node.ledger.reset();
        await node.setFaults([{ kind: "status", status: 500 }]);
      }
      const result = await load(pool, { perSecond: 200, forMs: 2_000 });
      const caused = nodes.reduce((sum, node) => sum + node.ledger.counts().requests, 0);
      expect(result.failed).toBe(result.sent);
      expect(caused / result.sent).toBeLessThanOrEqual(1.2);
    },
  );

  timedTest(
    "comes back by itself after every node was down",
    { renew, timeoutMs: 15_000 },
    async () => {
      await load(pool, { perSecond: 100, forMs: 300 });
      for (const node of nodes) await node.setFaults([{ kind: "down" }]);
      const during = await load(pool, { perSecond: 100, forMs: 500 });
      expect(during.failed).toBe(during.sent);
      for (const node of nodes) await node.setFaults([]);
      const startMs = performance.now();
      const first = async (): Promise<number> => {
        const answered = await pool.call(1, { method: "eth_gasPrice", params: undefined }).then(
          () => true,
          () => false,
        );
        return answered ? performance.now() - startMs : first();
      };
      expect(await first()).toBeLessThan(1_000);
    },
  );
});
