import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import {
  type AttemptOutcome,
  createUpstreamPool,
  type UpstreamObserver,
  type UpstreamPool,
} from "../../src/upstream/index.ts";
import { timedTest } from "../support/timing.ts";
import { load } from "./load.ts";
import { registryOf, startNode, type TestNode } from "./node.ts";

const answered: ReadonlySet<AttemptOutcome> = new Set(["answer", "error-answer", "aborted"]);

let target: TestNode;
let nodes: FaultNode[];
let pool: UpstreamPool;
let failures: { upstream: string; atMs: number }[];
let ejections: { upstream: string; atMs: number }[];

const observer: UpstreamObserver = {
  attempt: ({ upstream, outcome }) => {
    if (!answered.has(outcome)) failures.push({ upstream, atMs: performance.now() });
  },
  state: ({ upstream, state }) => {
    if (state === "ejected") ejections.push({ upstream, atMs: performance.now() });
  },
};

const setUp = async () => {
  target = startNode();
  nodes = await Promise.all([0, 1, 2, 3].map(() => startFaultNode({ target: target.url })));
  failures = [];
  ejections = [];
  pool = createUpstreamPool({ registry: registryOf(nodes.map(({ url }) => url)), observer });
};
const tearDown = async () => {
  pool.close();
  await Promise.all(nodes.map((node) => node.stop()));
  await target.kill();
};
const renew = async () => {
  await tearDown();
  await setUp();
};
beforeEach(setUp);
afterEach(tearDown);

const callsAt = (node: FaultNode) => node.ledger.counts().methods["eth_getBalance"] ?? 0;
const percentile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

/** Calls at a fixed rate; gives each call's time. */
async function times(perSecond: number, forMs: number): Promise<number[]> {
  const found: number[] = [];
  const pending: Promise<unknown>[] = [];
  const startMs = performance.now();
  let sent = 0;
  while (performance.now() - startMs < forMs) {
    const due = ((performance.now() - startMs) / 1_000) * perSecond;
    for (; sent < due; sent++) {
      const sentMs = performance.now();
      const call = { method: "eth_getBalance", params: `["0x${sent}","latest"]` };
      pending.push(pool.call(1, call).then(() => found.push(performance.now() - sentMs)));
    }
    await Bun.sleep(1);
  }
  await Promise.all(pending);
  return found;
}

describe("one of four nodes at 200 requests per second", () => {
  timedTest(
    "is killed: no error, ejected within 500 ms after at most 3 failures, back within 2 s",
    { renew, timeoutMs: 15_000 },
    async () => {
      const [victim] = nodes as [FaultNode];
      const name = `127.0.0.1:${victim.port}`;
      let killedAtMs = 0;
      let revivedAtMs = 0;
      let callsBefore = 0;
      const result = await load(pool, {
        perSecond: 200,
        forMs: 8_000,
        steps: new Map<number, () => unknown>([
          [500, () => ((killedAtMs = performance.now()), victim.setFaults([{ kind: "down" }]))],
          [
            2_500,
            async () => {
              await victim.setFaults([]);
              callsBefore = callsAt(victim);
              revivedAtMs = performance.now();
            },
          ],
        ]),
        done: () => callsAt(victim) > callsBefore + 5,
      });
      const backMs = performance.now() - revivedAtMs;
      const [ejection] = ejections;
      expect(result.failed).toBe(0);
      expect(ejections).toHaveLength(1);
      expect(ejection).toMatchObject({ upstream: name });
      expect((ejection?.atMs ?? 0) - killedAtMs).toBeLessThan(500);
      const before = failures.filter(({ atMs }) => atMs <= (ejection?.atMs ?? 0));
      expect(before.length).toBeLessThanOrEqual(3);
      expect(backMs).toBeLessThan(2_000);
    },
  );

  timedTest(
    "hangs: the slowest percent of the others' callers notice nothing once it is out",
    { renew, timeoutMs: 20_000 },
    async () => {
      await times(200, 500);
      const calm = percentile(await times(200, 1_500), 0.99);
      await nodes[0]!.setFaults([{ kind: "hang" }]);
      while (ejections.length === 0) await times(200, 100);
      const during = percentile(await times(200, 1_500), 0.99);
      // Twice, and the noise of a busy machine's timers.
      expect(during).toBeLessThan(2 * calm + 15);
      expect(callsAt(nodes[0]!)).toBeGreaterThan(0);
    },
  );

  timedTest(
    "fails 60 % of its answers: less than 5 % of the traffic is sent there",
    { renew, timeoutMs: 15_000 },
    async () => {
      await nodes[0]!.setFaults([{ kind: "status", status: 500, probability: 0.6 }], 3);
      const result = await load(pool, { perSecond: 200, forMs: 4_000 });
      expect(result.failed).toBe(0);
      expect(callsAt(nodes[0]!) / result.sent).toBeLessThan(0.05);
    },
  );
});

describe("when nothing answers", () => {
  test.each<[string, Parameters<FaultNode["setFaults"]>[0]]>([
    ["all are down", [{ kind: "down" }]],
    ["all fail", [{ kind: "status", status: 500 }]],
    ["all reset", [{ kind: "reset" }]],
    ["all refuse for pace", [{ kind: "rateLimit", as: "status" }]],
  ])(
    "%s: callers cause at most 1.2 requests each",
    async (_, faults) => {
      await load(pool, { perSecond: 200, forMs: 400 });
      let sent = 0;
      const settled: Promise<unknown>[] = [];
      failures = [];
      for (const node of nodes) await node.setFaults(faults);
      const startMs = performance.now();
      while (performance.now() - startMs < 2_000) {
        for (; sent < (performance.now() - startMs) / 5; sent++) {
          const call = { method: "eth_getBalance", params: `["0x${sent}","latest"]` };
          settled.push(pool.call(1, call, { deadlineMs: 500 }).catch(() => {}));
        }
        await Bun.sleep(2);
      }
      await Promise.all(settled);
      expect(failures.length / sent).toBeLessThanOrEqual(1.2);
    },
    60_000,
  );

  timedTest(
    "all hang: every call ends within 50 ms of its deadline",
    { renew, timeoutMs: 15_000 },
    async () => {
      await load(pool, { perSecond: 100, forMs: 300 });
      for (const node of nodes) await node.setFaults([{ kind: "hang" }]);
      const overMs = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const deadlineMs = 200 + 20 * index;
          const sentMs = performance.now();
          const call = { method: "eth_getBalance", params: `["0x${index}","pending"]` };
          await pool.call(1, call, { deadlineMs }).catch(() => {});
          return performance.now() - sentMs - deadlineMs;
        }),
      );
      expect(Math.max(...overMs)).toBeLessThan(50);
    },
  );
});

timedTest(
  "a node that closes idle connections costs no caller an answer",
  { renew, timeoutMs: 5_000 },
  async () => {
    const greedy = startNode();
    const failed: AttemptOutcome[] = [];
    const own = createUpstreamPool({
      registry: registryOf([greedy.url]),
      observer: { attempt: ({ outcome }) => void (answered.has(outcome) || failed.push(outcome)) },
    });
    try {
      for (let round = 0; round < 5; round++) {
        const calls = Array.from({ length: 8 }, (_, index) =>
          own.call(1, { method: "eth_getBalance", params: `["0x${round}${index}"]` }),
        );
        for (const reply of await Promise.all(calls)) expect(reply.attempts).toBe(1);
        // Its connections are gone, and it listens again before anyone could know.
        await greedy.kill();
        greedy.revive();
      }
      expect(failed).toEqual([]);
    } finally {
      own.close();
      await greedy.kill();
    }
  },
);
