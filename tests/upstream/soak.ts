import { seededRandom } from "../../src/lib/clock.ts";
import { createUpstreamPool } from "../../src/upstream/index.ts";
import { registryOf } from "./node.ts";

/** What a soak showed. */
export interface SoakResult {
  readonly calls: number;
  /** Calls of callers who stayed and got no answer. */
  readonly failed: number;
  /** Resident memory, MiB, at even moments of the run. */
  readonly residentMib: readonly number[];
  readonly socketsLeft: number;
  /** Where each timer was set that neither ended nor was cleared. */
  readonly timersLeft: readonly string[];
}

const SAMPLES = 40;
/** Callers at a time; the next call of each begins when the last one ended. */
const CALLERS = 64;

/** A node that fails in every way now and then, and keeps nothing. */
function startUnreliableNode(seed: number) {
  const random = seededRandom(seed);
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 5,
    async fetch(request) {
      const { id, method } = (await request.json()) as { id: number; method: string };
      if (method === "eth_chainId") return Response.json({ id, result: "0x1" });
      const luck = random();
      if (luck < 0.01) return new Response("<html>", { status: 502 });
      // Rare, because each rests the node for a second, and with all at rest nobody is answered.
      if (luck < 0.0105) return new Response("", { status: 429 });
      if (luck < 0.02) return Response.json({ id: id + 1, result: 1 });
      if (luck < 0.03) return Response.json({ id, error: { code: -32_603, message: "internal" } });
      if (luck < 0.035)
        return new Response(`{"id":${id},"resu`, { headers: { connection: "close" } });
      if (luck < 0.037) await Bun.sleep(2_000);
      else if (luck < 0.3) await Bun.sleep(luck * 10);
      const size = method === "eth_getLogs" ? 200_000 : 200;
      return Response.json({
        id,
        result: method === "eth_blockNumber" ? "0x64" : "a".repeat(size),
      });
    },
  });
}

/** TCP sockets of this process. */
async function openSockets(): Promise<number> {
  const { stdout } = Bun.spawn(["ls", "-l", `/proc/${process.pid}/fd`], { stdout: "pipe" });
  return (await new Response(stdout).text()).split("socket:").length - 1;
}

/** Where the caller stands. */
const here = () => new Error("timer").stack ?? "";

/** Keeps where each timer was set, until it has run or was cleared. */
function watchTimers(): ReadonlyMap<unknown, string> {
  const own = { setTimeout, setInterval, clearTimeout, clearInterval };
  const open = new Map<unknown, string>();
  const forget = (clear: (timer: Timer) => void) => (timer: Timer) => {
    open.delete(timer);
    clear(timer);
  };
  Object.assign(globalThis, {
    setTimeout: (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      const timer = own.setTimeout(() => {
        open.delete(timer);
        run(...args);
      }, ms);
      open.set(timer, here());
      return timer;
    },
    setInterval: (run: () => void, ms?: number) => {
      const timer = own.setInterval(run, ms);
      open.set(timer, here());
      return timer;
    },
    clearTimeout: forget(own.clearTimeout),
    clearInterval: forget(own.clearInterval),
  });
  return open;
}

/** Waits until a condition holds, at most a while: what was given up may still end by itself. */
async function settle(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < 250 && !(await holds()); wait++) await Bun.sleep(20);
}

/**
 * Loads a pool over unreliable nodes for a time, with callers who sometimes leave. Counts what
 * the whole process has open, so it wants a process of its own.
 * @param forMs - length of the run
 */
async function soak(forMs: number): Promise<SoakResult> {
  const timers = watchTimers();
  const socketsBefore = await openSockets();
  const nodes = [1, 2, 3].map(startUnreliableNode);
  const pool = createUpstreamPool({
    registry: registryOf(nodes.map(({ port }) => `http://127.0.0.1:${port}/`)),
  });
  const random = seededRandom(9);
  const residentMib: number[] = [];
  let calls = 0;
  let failed = 0;
  const endMs = performance.now() + forMs;
  const caller = async () => {
    while (performance.now() < endMs) {
      const leaving = random() < 0.02 ? AbortSignal.timeout(1) : undefined;
      const method = random() < 0.05 ? "eth_getLogs" : "eth_call";
      const params = `["0x${calls++}"]`;
      const options = { deadlineMs: 1_000, ...(leaving && { signal: leaving }) };
      await pool.call(1, { method, params }, options).catch(() => {
        if (!leaving?.aborted) failed++;
      });
    }
  };
  const sampling = setInterval(
    () => residentMib.push(Math.round(process.memoryUsage.rss() / 1_048_576)),
    forMs / SAMPLES,
  );
  await Promise.all(Array.from({ length: CALLERS }, caller));
  clearInterval(sampling);
  pool.close();
  await Promise.all(nodes.map((node) => node.stop(true)));
  await settle(async () => (await openSockets()) <= socketsBefore);
  await settle(() => timers.size === 0);
  const socketsLeft = (await openSockets()) - socketsBefore;
  return { calls, failed, residentMib, socketsLeft, timersLeft: [...timers.values()] };
}

/** How much the last quarter's highest memory is above that of the second, MiB. */
export function growthMib({ residentMib }: SoakResult): number {
  const quarter = Math.floor(residentMib.length / 4);
  const early = Math.max(...residentMib.slice(quarter, 2 * quarter));
  return Math.max(...residentMib.slice(-quarter)) - early;
}

if (import.meta.main) {
  const minutes = Number(process.argv[2] ?? 20);
  const result = await soak(minutes * 60_000);
  process.stdout.write(`${JSON.stringify({ minutes, ...result, growthMib: growthMib(result) })}\n`);
}
