import { seededRandom } from "../../src/lib/clock.ts";
import { runClosedLoop } from "./closedLoop.ts";
import { type LoadConnection, openConnection } from "./connection.ts";
import type { LoadJob } from "./job.ts";
import { runOpenLoop } from "./openLoop.ts";
import { createRequestSource } from "./request.ts";
import { Tally } from "./tally.ts";

/** Connections opened at a time; more would overflow a listener's backlog. */
const OPEN_AT_ONCE = 100;

/**
 * One run of load in a process of its own: reads a `LoadJob` from standard input, writes a
 * `LoadReport` to standard output.
 */
const job: LoadJob = await Bun.stdin.json();
const { target, clients, rate, seconds, isGentle = false, isSliced = false } = job;
const connections = await openAll();
const next = createRequestSource(target, seededRandom(Date.now()));
const tally = new Tally({ isSliced });
await (rate === undefined
  ? runClosedLoop(connections, next, tally, seconds)
  : runOpenLoop(connections, next, tally, { rate, seconds, isGentle }));
process.stdout.write(`${JSON.stringify(tally.report())}\n`);
process.exit(0);

async function openAll(): Promise<LoadConnection[]> {
  const opened: LoadConnection[] = [];
  while (opened.length < clients) {
    const count = Math.min(OPEN_AT_ONCE, clients - opened.length);
    const { hostname, port, expects } = target;
    const batch = Array.from({ length: count }, () => openConnection(hostname, port, expects));
    opened.push(...(await Promise.all(batch)));
  }
  return opened;
}
