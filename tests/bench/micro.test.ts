import { expect, test } from "bun:test";
import { runMicro } from "../../bench/micro.ts";

test("every hot function alone gives a time", async () => {
  const { rows } = await runMicro({
    sources: [],
    withReferences: false,
    repeats: 1,
    seconds: 0.01,
    isQuick: true,
    progress() {},
  });
  expect(rows.length).toBeGreaterThan(10);
  for (const { figures } of rows) expect(figures["nanoseconds"]!.median).toBeGreaterThan(0);
}, 30_000);
