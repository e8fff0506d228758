import type { Clock } from "../../lib/clock.ts";
import type { Block } from "./block.ts";
import { bloomOf } from "./bloom.ts";
import type { Log } from "./log.ts";
import { bloomTest, joinFilters, type LogFilter } from "./logFilter.ts";
import type { BlockReader } from "./reader.ts";

/** Pause before logs are asked for again; doubles up to the longest. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** Times an empty answer is doubted. On a chain whose headers carry other blooms it never agrees. */
const MAX_DOUBTS = 8;

/** Bloom tests of filters, which cost a hash per value. */
const tests = new WeakMap<LogFilter, (bloom: Uint8Array) => boolean>();

/**
 * Reads the logs of a block that any of the filters wants (and maybe others) with one call, again
 * until there is an answer.
 *
 * Some nodes answer with no logs for a block they do not have. Where the header's bloom says that
 * there may be some, an empty answer is believed only when all logs of the block together give
 * exactly that bloom.
 * @param signal - ends the attempts; then the result is undefined
 */
export async function readBlockLogs(
  reader: BlockReader,
  clock: Clock,
  block: Block,
  filters: readonly LogFilter[],
  signal: AbortSignal,
): Promise<Log[] | undefined> {
  const query = joinFilters(filters);
  let pauseMs = MIN_PAUSE_MS;
  let doubts = 0;
  for (;;) {
    if (signal.aborted) return undefined;
    const logs = await reader.logs(block.hash, query, signal).catch(() => undefined);
    if (logs) {
      if (logs.length > 0 || !mayHoldLogs(block, filters)) return logs;
      const all = await reader.logs(block.hash, {}, signal).catch(() => undefined);
      if (all && (isComplete(all, block) || ++doubts === MAX_DOUBTS)) return all;
    }
    await clock.sleep(pauseMs, signal).catch(() => {});
    pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs);
  }
}

function mayHoldLogs({ logsBloom }: Block, filters: readonly LogFilter[]): boolean {
  if (!logsBloom?.some((byte) => byte !== 0)) return false;
  return filters.some((filter) => {
    const test = tests.get(filter) ?? bloomTest(filter);
    tests.set(filter, test);
    return test(logsBloom);
  });
}

function isComplete(logs: readonly Log[], { logsBloom }: Block): boolean {
  return logsBloom !== undefined && Buffer.compare(bloomOf(logs), logsBloom) === 0;
}
