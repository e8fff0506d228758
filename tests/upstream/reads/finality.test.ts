import { expect, test } from "bun:test";
import type { Clock } from "../../../src/lib/clock.ts";
import { Finality, type FinalityRule } from "../../../src/upstream/reads/finality.ts";
import { hex } from "./simulated.ts";

/** A chain of 1,000 blocks whose hashes may change, watched by a rule. */
function watch(rule: FinalityRule) {
  let nowMs = 1_000;
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: async () => {},
  };
  const state = { fork: "a", asked: [] as string[], reorgs: [] as number[] };
  const hash = (number: number) => `0x${number}${state.fork}`;
  const finality = new Finality({
    rule,
    blockTimeMs: 1_000,
    clock,
    head: () => 1_000,
    ask: async (block) => {
      state.asked.push(block);
      const number = block === "finalized" ? 900 : Number(block);
      const result = { number: hex(number), hash: hash(number), parentHash: hash(number - 1) };
      const bytes = new TextEncoder().encode(JSON.stringify(result));
      const span = { start: 0, end: bytes.length };
      return { bytes, id: undefined, result: span, error: undefined };
    },
    onReorg: (lastKept) => state.reorgs.push(lastKept),
  });
  /** Lets time pass, has the chain looked at, and waits for the look. */
  const look = async () => {
    nowMs += 7_000;
    finality.isFinal(1);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { finality, state, look };
}

test("by depth, and 64 blocks where nothing is said", () => {
  for (const [rule, last] of [
    [{ depth: 1 }, 999],
    [{ depth: 0 }, 1_000],
    [{}, 936],
  ] as const) {
    const { finality } = watch(rule);
    expect([finality.isFinal(last), finality.isFinal(last + 1)]).toEqual([true, false]);
  }
});

test("by tag: nothing is final before a node has told", async () => {
  const { finality, look, state } = watch({ hasTag: true });
  expect(finality.isFinal(1)).toBe(false);
  await look();
  expect(state.asked).toContain("finalized");
  expect([finality.isFinal(900), finality.isFinal(901)]).toEqual([true, false]);
});

test.each([{ depth: 1 }, { hasTag: true }])(
  "a final block that is another later means all may be, %j",
  async (rule) => {
    const { finality, look, state } = watch(rule);
    finality.isFinal(1);
    await look();
    await look();
    expect(state.reorgs).toEqual([]);
    state.fork = "b";
    await look();
    expect(state.reorgs).toEqual([-1]);
  },
);

test("a block that contradicts one seen before, or its child", () => {
  const { finality, state } = watch({ depth: 1 });
  finality.saw({ number: 10, hash: "0xa", parentHash: "0x9" });
  finality.saw({ number: 11, hash: "0xb", parentHash: "0xa" });
  expect(state.reorgs).toEqual([]);
  finality.saw({ number: 11, hash: "0xother", parentHash: "0xa" });
  finality.saw({ number: 12, hash: "0xc", parentHash: "0xnew" });
  expect(state.reorgs).toEqual([10, 10]);
});
