import { afterEach, describe, expect, test } from "bun:test";
import { simulate, type Simulation } from "./simulated.ts";

let sim: Simulation;
afterEach(() => sim.pool.close());

/** A simulation whose answers wait until they are let go. */
async function held() {
  sim = simulate({ lags: [() => 0, () => 0] });
  await sim.ask("eth_blockNumber");
  while (sim.pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
  const gate = Promise.withResolvers<void>();
  for (const node of sim.nodes) {
    node.calls.length = 0;
    node.override = async (method) => {
      if (method === "eth_getBalance") await gate.promise;
      return undefined;
    };
  }
  return gate;
}

const ADDRESS = `0x${"Ab".repeat(20)}`;
const call = (address = ADDRESS, block = "latest") => ({
  method: "eth_getBalance",
  params: JSON.stringify([address, block]),
});
const begun = async () => {
  while (sim.count("eth_getBalance") === 0) await Bun.sleep(1);
};

describe("identical reads at once", () => {
  test.each([10, 50, 1_000])("%d of them are one request", async (count) => {
    const gate = await held();
    const asked = Array.from({ length: count }, (_, index) =>
      sim.pool.call(1, call(), { caller: `caller ${index}` }),
    );
    await begun();
    gate.resolve();
    const replies = await Promise.all(asked);
    expect(sim.count("eth_getBalance")).toBe(1);
    expect(new Set(replies.map(({ bytes }) => Buffer.from(bytes).toString())).size).toBe(1);
    const sources = replies.map(({ source, attempts }) => `${source} ${attempts}`).sort();
    expect(sources.filter((one) => one === "upstream 1").length).toBe(1);
    expect(sources.filter((one) => one === "shared 0").length).toBe(count - 1);
  });

  test("the case of an address makes no difference; any other byte does", async () => {
    const gate = await held();
    const same = [call(), call(ADDRESS.toLowerCase())];
    const data = ["0xab", "0xAB"].map((input) => ({
      method: "eth_call",
      params: JSON.stringify([{ to: ADDRESS, input }, "latest"]),
    }));
    const asked = [...same, ...data].map((one) => sim.pool.call(1, one));
    await begun();
    gate.resolve();
    await Promise.all(asked);
    expect([sim.count("eth_getBalance"), sim.count("eth_call")]).toEqual([1, 2]);
  });

  test("one who leaves takes nobody along, be it the first or another", async () => {
    const gate = await held();
    const leaving = [new AbortController(), new AbortController(), undefined, undefined];
    const asked = leaving.map((controller) =>
      sim.pool.call(1, call(), controller ? { signal: controller.signal } : {}),
    );
    const left = Promise.allSettled(asked.slice(0, 2));
    await begun();
    for (const controller of leaving) controller?.abort(new Error("gone"));
    expect((await left).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    gate.resolve();
    expect((await Promise.all(asked.slice(2))).map(({ isError }) => isError)).toEqual([
      false,
      false,
    ]);
    expect(sim.count("eth_getBalance")).toBe(1);
  });

  test("when all have left, the request is cancelled, and the next caller gets one of its own", async () => {
    const gate = await held();
    const leaving = new AbortController();
    const asked = [1, 2].map(() => sim.pool.call(1, call(), { signal: leaving.signal }));
    const left = Promise.allSettled(asked);
    await begun();
    leaving.abort(new Error("gone"));
    await left;
    const next = sim.pool.call(1, call());
    gate.resolve();
    expect((await next).source).toBe("upstream");
    expect(sim.count("eth_getBalance")).toBe(2);
  });
});

describe("what is not shared", () => {
  test("a read with one from before the caller's own broadcast", async () => {
    const gate = await held();
    const before = sim.pool.call(1, call(), { caller: "a" });
    await begun();
    const raw = { method: "eth_sendRawTransaction", params: '["0x02"]' };
    await sim.pool.call(1, raw, { caller: "a" });
    const after = sim.pool.call(1, call(), { caller: "a" });
    const other = sim.pool.call(1, call(), { caller: "b" });
    while (sim.count("eth_getBalance") < 2) await Bun.sleep(1);
    gate.resolve();
    const [, own, others] = await Promise.all([before, after, other]);
    expect([own.source, others.source]).toEqual(["upstream", "shared"]);
    expect(sim.count("eth_getBalance")).toBe(2);
  });

  test.each(["eth_sendRawTransaction", "eth_sendUserOperation", "custom_doSomething"])(
    "%s",
    async (method) => {
      await held();
      const asked = [1, 2, 3].map(() => sim.pool.call(1, { method, params: '["0x02"]' }));
      await Promise.all(asked);
      expect(sim.count(method)).toBeGreaterThanOrEqual(3);
    },
  );

  test("a caller who has seen a block with a read that may be from before it", async () => {
    const gate = await held();
    const early = sim.pool.call(1, call(), { caller: "a" });
    await begun();
    sim.chain.head++;
    await sim.ask("eth_getBlockByNumber", ["latest", false], { caller: "b" });
    const late = sim.pool.call(1, call(), { caller: "b" });
    while (sim.count("eth_getBalance") < 2) await Bun.sleep(1);
    gate.resolve();
    expect([(await early).source, (await late).source]).toEqual(["upstream", "upstream"]);
  });
});
