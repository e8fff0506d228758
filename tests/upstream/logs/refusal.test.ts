import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../src/lib/clock.ts";
import { classifyAnswer } from "../../../src/upstream/classify.ts";
import { parseRefusal } from "../../../src/upstream/logs/refusal.ts";

const BLOCKS = 100_001;
const encoder = new TextEncoder();

/** Texts of nodes and vendors about ranges, with the limit each names. */
const ranges: [string, number | undefined][] = [
  ["requested too many blocks from 0 to 100000, maximum is set to 2048", 2_048],
  ["Max range: 800", 800],
  ["Maximum allowed number of requested blocks is 3500", 3_500],
  ["block range is too wide", undefined],
  ["block range too large, range: 100001, max: 3000", 3_000],
  ["eth_getLogs is limited to a 10,000 range", 10_000],
  ["eth_getLogs is limited to 0 - 10000 blocks range", 10_000],
  ["eth_getLogs is limited to 1024 block range. Please check the parameter requirements", 1_024],
  ["Block range limit exceeded. Please limit it to 100 blocks", 100],
  ["please limit the query to at most 1000 blocks", 1_000],
  ["exceed maximum block range: 50000", 50_000],
  ["query exceeds max block range 1000", 1_000],
  ["ranges over 10000 blocks are not supported on freetier", 10_000],
  ["eth_getLogs range is too large, max is 1k blocks", 1_000],
  ["query must be smaller than size 1024", 1_024],
  ["block range is too wide (maximum 1024)", 1_024],
  ["exceed max block range: 5000", 5_000],
  ["Requested range exceeds maximum RPC range limit", undefined],
  ["exceed max range of 1000", 1_000],
  ["block range greater than 10000 max", 10_000],
  ["Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.", 10],
  ["up to a 2,000 block range", 2_000],
  ["Exceeded maximum block range: 100000 > 5000", 5_000],
  ["block range exceeds the limit of 2000 blocks per request", 2_000],
];

/** Texts about the size of the answer. */
const results: [string, number | undefined, { from: number; to: number } | undefined][] = [
  [
    "query returned more than 10000 results. Try with this block range [0x1, 0xff].",
    10_000,
    { from: 1, to: 255 },
  ],
  ["query exceeds max results 20000, retry with the range 5-123", 20_000, { from: 5, to: 123 }],
  ["logs matched by query exceeds limit of 10000", 10_000, undefined],
  ["query timeout exceeded", undefined, undefined],
  ["backend response too large", undefined, undefined],
];

const others = [
  "execution reverted",
  "header not found",
  "rate limit exceeded",
  "daily request limit reached",
  "invalid argument 0: hex string has length 41",
  "block range extends beyond current head block",
];

describe("what a refusal of eth_getLogs says", () => {
  test.each(ranges)("%s", (text, maxBlocks) => {
    expect(parseRefusal(text, BLOCKS)).toEqual({ kind: "range", maxBlocks });
  });

  test.each(results)("%s", (text, maxResults, suggested) => {
    expect(parseRefusal(text, BLOCKS)).toEqual({ kind: "results", maxResults, suggested });
  });

  test.each(others)("nothing: %s", (text) => {
    expect(parseRefusal(text, BLOCKS)).toBeUndefined();
  });

  test("is never taken for a limit of pace or a refusal of us", () => {
    for (const [message] of [...ranges, ...results]) {
      const body = { jsonrpc: "2.0", id: 1, error: { code: -32_005, message } };
      const bytes = encoder.encode(JSON.stringify(body));
      const { kind } = classifyAnswer({ status: 200, retryAfter: null, bytes }, 1, systemClock);
      expect([kind, message]).not.toContainAnyValues(["limited", "reject"]);
    }
  });
});
