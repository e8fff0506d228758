import { expect, test } from "bun:test";
import { Outbox } from "../../src/rpc/wsOutbox.ts";

/** An outbox on a connection whose buffer the test fills and empties, and on a clock it moves. */
function outboxOf(highWaterBytes = 100) {
  const wire = { buffered: 0, sent: [] as string[] };
  const timers = new Set<() => void>();
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        timers.add(resolve);
        signal?.addEventListener("abort", () => {
          timers.delete(resolve);
          reject(signal.reason);
        });
      }),
  };
  let stalls = 0;
  const outbox = new Outbox(
    {
      send: (text) => wire.sent.push(text) > 0,
      bufferedBytes: () => wire.buffered,
    },
    { highWaterBytes, stallMs: 1_000 },
    clock,
    () => stalls++,
  );
  return { outbox, wire, timers, stalls: () => stalls };
}

const settled = () => new Promise(setImmediate);

test("what is reserved counts before it is sent; room is given first come, first served", async () => {
  const { outbox } = outboxOf();
  const order: number[] = [];
  const first = await outbox.reserve(1_000);
  const later = [1, 2].map(async (n) => {
    const done = await outbox.reserve(1_000);
    order.push(n);
    return done;
  });
  await settled();
  expect(order).toEqual([]);
  first?.();
  await settled();
  expect(order).toEqual([1]);
  (await later[0])?.();
  await settled();
  expect(order).toEqual([1, 2]);
});

test("a connection that takes nothing while something waits has stalled", async () => {
  const { outbox, wire, timers, stalls } = outboxOf();
  wire.buffered = 101;
  const waiting = outbox.reserve(1);
  await settled();
  expect(timers.size).toBe(1);
  for (const fire of timers) fire();
  await settled();
  expect(stalls()).toBe(1);
  outbox.close();
  expect(await waiting).toBeUndefined();
});

test("each byte taken begins the wait anew", async () => {
  const { outbox, wire, timers } = outboxOf();
  wire.buffered = 500;
  void outbox.reserve(1);
  await settled();
  const [before] = timers;
  wire.buffered = 400;
  outbox.drained();
  await settled();
  expect(timers.size).toBe(1);
  expect(timers.has(before as () => void)).toBe(false);
});

// A wait for room that others had reserved left its watch behind, which then dropped the connection.
test("nothing is watched once nothing waits", async () => {
  const { outbox, timers } = outboxOf();
  const first = await outbox.reserve(1_000);
  const second = outbox.reserve(1);
  await settled();
  expect(timers.size).toBe(1);
  first?.();
  (await second)?.();
  await settled();
  expect(timers.size).toBe(0);
});

test("closing ends every wait, and nothing is sent any more", async () => {
  const { outbox, wire } = outboxOf();
  wire.buffered = 101;
  const waiting = [outbox.reserve(1), outbox.reserve(1)];
  outbox.close();
  expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  outbox.send("late");
  expect(wire.sent).toEqual([]);
});
