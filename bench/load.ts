/** One closed-loop measurement: what a fixed number of clients achieved. */
export interface Measurement {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: number;
}

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the n-th request; varied so that nothing can be shared or cached by accident. */
  body(n: number): string;
  /** Whether an answer is the right one; a wrong answer counts as a failure. */
  accepts(status: number, text: string): boolean;
}

/**
 * Drives a target with `clients` callers, each sending its next request when the last is answered.
 * @param durationMs - how long to measure, after a warm-up of a quarter of it
 */
export async function measure(
  target: Target,
  options: { clients: number; durationMs: number },
): Promise<Measurement> {
  await drive(target, { clients: options.clients, durationMs: options.durationMs / 4 });
  return drive(target, options);
}

async function drive(
  target: Target,
  options: { clients: number; durationMs: number },
): Promise<Measurement> {
  const latencies: number[] = [];
  let failures = 0;
  let sent = 0;
  const start = performance.now();
  const end = start + options.durationMs;
  const client = async () => {
    while (performance.now() < end) {
      const begun = performance.now();
      const answer = await fetch(target.url, {
        method: "POST",
        headers: { "content-type": "application/json", ...target.headers },
        body: target.body(sent++),
        signal: AbortSignal.timeout(10_000),
      }).then(
        async (response) => target.accepts(response.status, await response.text()),
        () => false,
      );
      if (answer) latencies.push(performance.now() - begun);
      else failures++;
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  const seconds = (performance.now() - start) / 1_000;
  latencies.sort((a, b) => a - b);
  return {
    requestsPerSecond: latencies.length / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    failures,
  };
}

/** The middle value of several runs of one figure. */
export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
