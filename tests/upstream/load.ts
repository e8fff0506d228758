import type { UpstreamPool } from "../../src/upstream/index.ts";

/** What callers saw during a load. */
export interface LoadResult {
  readonly sent: number;
  readonly failed: number;
  readonly slowestMs: number;
}

/**
 * Sends calls at a fixed rate, each with params of its own, without waiting for their answers, and
 * runs scripted steps at given moments.
 * @param steps - by ms since the start
 * @param done - ends the load early, once all steps ran
 */
export async function load(
  pool: UpstreamPool,
  options: {
    readonly perSecond: number;
    readonly forMs: number;
    readonly method?: string;
    readonly steps?: ReadonlyMap<number, () => unknown>;
    readonly done?: () => boolean;
  },
): Promise<LoadResult> {
  const { perSecond, forMs, method = "eth_getBalance", steps = new Map(), done } = options;
  const startMs = performance.now();
  const pending: Promise<void>[] = [];
  const due = [...steps].sort(([a], [b]) => a - b);
  let sent = 0;
  let failed = 0;
  let slowestMs = 0;
  const send = async () => {
    const sentMs = performance.now();
    sent++;
    try {
      const reply = await pool.call(1, { method, params: `["0x${sent}","latest"]` });
      if (reply.isError) failed++;
    } catch {
      failed++;
    }
    slowestMs = Math.max(slowestMs, performance.now() - sentMs);
  };
  for (;;) {
    const elapsedMs = performance.now() - startMs;
    while (due[0] && due[0][0] <= elapsedMs) await due.shift()?.[1]();
    if (elapsedMs >= forMs || (due.length === 0 && done?.())) break;
    const overdue = Math.ceil((elapsedMs / 1_000) * perSecond) - sent;
    for (let n = 0; n < overdue; n++) pending.push(send());
    await Bun.sleep(2);
  }
  await Promise.all(pending);
  return { sent, failed, slowestMs };
}
