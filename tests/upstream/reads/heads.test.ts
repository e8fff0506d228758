import { beforeEach, describe, expect, test } from "bun:test";
import { Heads } from "../../../src/upstream/reads/heads.ts";

const [a, b, c] = [{}, {}, {}] as [object, object, object];
let nowMs = 0;
let heads: Heads;
beforeEach(() => {
  nowMs = 1_000;
  heads = new Heads({ blockTimeMs: 1_000, now: () => nowMs });
});

describe("the head of a chain", () => {
  test("is the highest that was claimed", () => {
    for (const [node, head] of [
      [a, 100],
      [b, 103],
      [c, 101],
    ] as const)
      heads.claim(node, head, true);
    expect(heads.highest).toBe(103);
  });

  test("does not leap because one node says so, until another confirms it", () => {
    heads.claim(a, 100, true);
    heads.claim(b, 100, true);
    expect(heads.claim(c, 1_000_000, true)).toBe(false);
    expect(heads.highest).toBe(100);
    expect(heads.claim(a, 1_000_000, true)).toBe(true);
    expect(heads.highest).toBe(1_000_000);
  });

  test("leaps at the word of the only node there is", () => {
    heads.claim(a, 100, false);
    expect(heads.claim(a, 1_000_000, false)).toBe(true);
  });

  test("moves on by what a chain can have done meanwhile", () => {
    heads.claim(a, 100, true);
    nowMs += 3_600_000;
    expect(heads.claim(a, 3_700, true)).toBe(true);
  });

  test("a first claim that two others contradict is dropped", () => {
    heads.claim(a, 1_000_000, true);
    heads.claim(b, 100, true);
    expect(heads.highest).toBe(1_000_000);
    heads.claim(c, 101, true);
    expect(heads.highest).toBe(101);
    expect(heads.claim(a, 1_000_001, true)).toBe(false);
  });

  test("moves back only after nobody has shown it for 10 s", () => {
    heads.claim(a, 105, true);
    expect(heads.settle(90)).toBe(false);
    nowMs += 9_000;
    expect(heads.settle(90)).toBe(false);
    nowMs += 2_000;
    expect(heads.settle(90)).toBe(true);
    expect(heads.highest).toBe(90);
  });

  test("and not when it was shown in between", () => {
    heads.claim(a, 105, true);
    heads.settle(90);
    nowMs += 9_000;
    heads.settle(105);
    nowMs += 9_000;
    expect(heads.settle(90)).toBe(false);
  });
});

describe("a node that goes back a little", () => {
  test("is trusted that much less, for a minute after the last time", () => {
    heads.wentBack(a, 100, 98);
    heads.wentBack(a, 101, 100);
    expect(heads.spread(a)).toBe(2);
    nowMs += 59_000;
    expect(heads.spread(a)).toBe(2);
    nowMs += 2_000;
    expect(heads.spread(a)).toBe(0);
  });

  test("one that goes back far was reset, and is not a balancer", () => {
    heads.wentBack(a, 10_000, 5);
    expect(heads.spread(a)).toBe(0);
  });
});
