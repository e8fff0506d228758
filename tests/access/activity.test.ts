import { describe, expect, test } from "bun:test";
import { createActivityLog, MAX_ERRORS_PER_KEY } from "../../src/access/activity.ts";
import { type KeyErrorEntry, openDatabase } from "../../src/db/index.ts";
import { ManualClock } from "./support.ts";

const failure = (keyId: string, path = "/"): Omit<KeyErrorEntry, "at"> => ({
  keyId,
  requestId: "r",
  operation: null,
  method: "GET",
  path,
  status: 404,
  code: "ROUTE_NOT_FOUND",
  message: "Not found",
});

describe("what keys do", () => {
  test("is stored together, once, when a second has gone by", async () => {
    const { activity } = await openDatabase(":memory:");
    const saves: number[] = [];
    const stored = Promise.withResolvers<void>();
    const recording = {
      ...activity,
      save: (...all: Parameters<typeof activity.save>) => {
        saves.push(all[1].length);
        stored.resolve();
        return activity.save(...all);
      },
    };
    const clock = new ManualClock();
    const log = createActivityLog(recording, clock);
    for (let turn = 0; turn < 1_000; turn++) log.used("k1");
    log.failed(failure("k1"));
    log.failed(failure("k2"));
    expect(saves).toEqual([]);
    await stored.promise;
    await log.flush();
    expect(saves).toEqual([2]);
    expect([...(await activity.lastUsed(["k1", "k2"]))]).toEqual([["k1", clock.now()]]);
  });

  test("stays within bounds in a storm of errors, of one key or of many", async () => {
    const { activity } = await openDatabase(":memory:");
    let most = 0;
    const counting = {
      ...activity,
      save: (...all: Parameters<typeof activity.save>) => {
        most = all[1].length;
        return activity.save(...all);
      },
    };
    const log = createActivityLog(counting, new ManualClock());
    for (let turn = 0; turn < 10_000; turn++) log.failed(failure("k1", "/".repeat(5_000)));
    await log.flush();
    expect(most).toBe(MAX_ERRORS_PER_KEY);
    expect((await activity.errors(["k1"], 1))[0]?.path).toHaveLength(300);
    for (let turn = 0; turn < 10_000; turn++) log.failed(failure(`k${turn}`));
    await log.flush();
    expect(most).toBe(2_000);
  });

  test("is given up when it cannot be stored, and said so", async () => {
    const database = await openDatabase(":memory:");
    const lost: unknown[] = [];
    const log = createActivityLog(database.activity, new ManualClock(), (error) =>
      lost.push(error),
    );
    log.used("k1");
    await database.close();
    await log.flush();
    expect(lost).toHaveLength(1);
  });
});
