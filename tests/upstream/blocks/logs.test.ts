import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../../src/lib/clock.ts";
import type { Block } from "../../../src/upstream/blocks/block.ts";
import { readBlockLogs } from "../../../src/upstream/blocks/blockLogs.ts";
import { bloomOf } from "../../../src/upstream/blocks/bloom.ts";
import { type Log, parseLogs, removedJson } from "../../../src/upstream/blocks/log.ts";
import {
  bloomTest,
  joinFilters,
  type LogFilter,
  matchesFilter,
  parseLogFilter,
} from "../../../src/upstream/blocks/logFilter.ts";
import type { BlockReader } from "../../../src/upstream/blocks/reader.ts";
import { SimChain, steppedClock } from "./simChain.ts";

const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
const topic = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const logOf = (at: number, topics: readonly number[], index = 0): Log => ({
  address: address(at),
  topics: topics.map(topic),
  index,
  json: "{}",
});

const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`;

const blockWith = (logs: readonly Log[]): Block => ({
  ...new SimChain().head,
  logsBloom: bloomOf(logs),
});

/** Answers in turn; the last one for ever. */
const readerOf = (...answers: ((query: object) => readonly Log[] | undefined)[]) => {
  const queries: object[] = [];
  const reader = {
    logs: async (_: string, query: object) => {
      queries.push(query);
      return (answers.length > 1 ? answers.shift() : answers[0])?.(query);
    },
  } as unknown as BlockReader;
  return { reader, queries };
};

describe("filters", () => {
  test.each([
    [{}, logOf(1, []), true],
    [{ address: address(1) }, logOf(1, [1]), true],
    [{ address: [address(1), address(2)] }, logOf(2, []), true],
    [{ address: address(1) }, logOf(2, []), false],
    [{ topics: [] }, logOf(1, []), true],
    [{ topics: [null] }, logOf(1, []), false],
    [{ topics: [null] }, logOf(1, [9]), true],
    [{ topics: [topic(1)] }, logOf(1, [1, 2]), true],
    [{ topics: [topic(1)] }, logOf(1, [2, 1]), false],
    [{ topics: [null, [topic(1), topic(2)]] }, logOf(1, [9, 2]), true],
    [{ topics: [[topic(1), null]] }, logOf(1, [9]), true],
    [{ topics: [topic(1), null, topic(3)] }, logOf(1, [1, 2]), false],
  ])("%j", (filter, log, matches) => {
    expect(matchesFilter(parseLogFilter(filter), log)).toBe(matches);
  });

  test("equal filters have equal keys, whatever their order and case", () => {
    const one = { address: [address(0xab), address(1)], topics: [[topic(2), topic(0xcd)]] };
    const same = {
      address: [address(1), upper(address(0xab)), address(1)],
      topics: [[upper(topic(0xcd)), topic(2)]],
    };
    expect(parseLogFilter(one).key).toBe(parseLogFilter(same).key);
    expect(parseLogFilter({ topics: [null] }).key).not.toBe(parseLogFilter({}).key);
  });

  test("a joined query and the blooms lose no log of any filter", () => {
    const random = seededRandom(42);
    const pick = (count: number) => Math.floor(random() * count);
    for (let run = 0; run < 300; run++) {
      const filters = Array.from({ length: 1 + pick(4) }, () =>
        parseLogFilter({
          ...(pick(2) && { address: Array.from({ length: 1 + pick(2) }, () => address(pick(3))) }),
          ...(pick(2) && {
            topics: Array.from({ length: 1 + pick(3) }, () => (pick(2) ? topic(pick(3)) : null)),
          }),
        }),
      );
      const joined = parseLogFilter(joinFilters(filters));
      const logs = Array.from({ length: 10 }, () =>
        logOf(
          pick(3),
          Array.from({ length: pick(4) }, () => pick(3)),
        ),
      );
      for (const log of logs) {
        for (const filter of filters.filter((one) => matchesFilter(one, log))) {
          expect(matchesFilter(joined, log)).toBe(true);
          expect(bloomTest(filter)(bloomOf([log]))).toBe(true);
        }
      }
    }
  });

  test("too many values are joined to all", () => {
    const filters = Array.from({ length: 300 }, (_, n) => parseLogFilter({ address: address(n) }));
    expect(joinFilters(filters)).toEqual({});
  });
});

test("logs of another block, or no logs at all, are not believed", () => {
  const hash = topic(1);
  const good = { address: address(1), topics: [], data: "0x", logIndex: "0x0", blockHash: hash };
  expect(parseLogs([good], hash)).toHaveLength(1);
  for (const bad of [
    null,
    {},
    [null],
    [{ ...good, blockHash: topic(2) }],
    [{ ...good, topics: [1] }],
  ]) {
    expect(parseLogs(bad, hash)).toBeUndefined();
  }
  const [log] = parseLogs([{ ...good, extra: "kept" }], hash) as [Log];
  expect(JSON.parse(removedJson(log))).toEqual({ ...good, extra: "kept", removed: true });
});

describe("the logs of a block", () => {
  const wanted: LogFilter = parseLogFilter({ address: address(1) });
  const held = [logOf(1, [1], 0), logOf(2, [2], 1)];
  const read = (reader: BlockReader, block: Block) =>
    readBlockLogs(
      reader,
      steppedClock(() => {}),
      block,
      [wanted],
      new AbortController().signal,
    );
  const ofNode = (query: object) => ("address" in query ? held.slice(0, 1) : held);

  test("are one query when the node has them", async () => {
    const { reader, queries } = readerOf(ofNode);
    expect(await read(reader, blockWith(held))).toEqual(held.slice(0, 1));
    expect(queries).toEqual([{ address: [address(1)] }]);
  });

  test("are one query when the bloom rules them out", async () => {
    const { reader, queries } = readerOf(() => []);
    expect(await read(reader, blockWith([logOf(3, [])]))).toEqual([]);
    expect(queries).toHaveLength(1);
  });

  test("are asked for again when a node without the block says that there are none", async () => {
    const { reader } = readerOf(
      () => [],
      () => [],
      () => undefined,
      ofNode,
    );
    expect(await read(reader, blockWith(held))).toEqual(held.slice(0, 1));
  });

  test("are none when all logs together give the bloom", async () => {
    // Another log has both the address and the topic that the filter wants, each in a place of its own.
    const both = parseLogFilter({ address: address(1), topics: [topic(2)] });
    const { reader, queries } = readerOf((query) => ("address" in query ? [] : held));
    const clock = steppedClock(() => {});
    const { signal } = new AbortController();
    const logs = await readBlockLogs(reader, clock, blockWith(held), [both], signal);
    expect(logs?.filter((log) => matchesFilter(both, log))).toEqual([]);
    expect(queries).toHaveLength(2);
  });

  test("are believed in the end where headers carry blooms of something else", async () => {
    const { reader, queries } = readerOf(() => []);
    expect(
      await read(reader, { ...blockWith([]), logsBloom: new Uint8Array(256).fill(255) }),
    ).toEqual([]);
    expect(queries.length).toBeLessThanOrEqual(16);
  });

  test("are given up when the block is removed", async () => {
    const { reader } = readerOf(() => undefined);
    const removed = new AbortController();
    const clock = steppedClock(() => removed.abort());
    expect(
      await readBlockLogs(reader, clock, blockWith(held), [wanted], removed.signal),
    ).toBeUndefined();
  });
});
