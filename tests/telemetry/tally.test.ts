import { expect, test } from "bun:test";
import { Counter, Histogram, Registry } from "prom-client";
import { seededRandom } from "../../src/lib/clock.ts";
import { TallyCounter, TallyHistogram } from "../../src/telemetry/tally.ts";

const names = { name: "test_total", help: "What was counted.", labelNames: ["chain", "kind"] };
const bounds = [0.001, 0.01, 0.1, 1];
const random = seededRandom(5);
const rows = Array.from({ length: 300 }, () => ({
  chain: Math.floor(random() * 3),
  kind: random() < 0.5 ? "read" : "heavy",
  value: random() < 0.1 ? 0.01 : random() * 2,
}));

const sorted = async (registry: Registry) => (await registry.metrics()).split("\n").sort();

test("a tallied counter is scraped as prom-client's own, each time anew", async () => {
  const [mine, theirs] = [new Registry(), new Registry()];
  const tally = new TallyCounter(mine, names);
  const counter = new Counter({ ...names, registers: [theirs] });
  for (let round = 0; round < 2; round++) {
    for (const { chain, kind, value } of rows) {
      const count = Math.ceil(value);
      tally.at(chain, kind).add(count);
      counter.inc({ chain, kind }, count);
    }
    expect(await sorted(mine)).toEqual(await sorted(theirs));
  }
});

test("a tallied histogram is scraped as prom-client's own, bounds included", async () => {
  const [mine, theirs] = [new Registry(), new Registry()];
  const tally = new TallyHistogram(mine, names, bounds);
  const histogram = new Histogram({ ...names, buckets: bounds, registers: [theirs] });
  for (const { chain, kind, value } of rows) {
    tally.at(chain, kind).observe(value);
    histogram.observe({ chain, kind }, value);
  }
  expect(await sorted(mine)).toEqual(await sorted(theirs));
});
