import type { Clock } from "../lib/clock.ts";
import type { AssetTable } from "./assets.ts";
import { Breaker } from "./breaker.ts";
import { settle, type SettledPrice, type SourcedReading } from "./settle.ts";
import { RefusedError } from "./sources/http.ts";
import type { PriceSource, Reading } from "./sources/source.ts";

/** How a source fares. */
export interface SourceStatus {
  readonly id: string;
  readonly kind: PriceSource["kind"];
  /** `resting`: it failed too often, or asked to be left alone, and is not asked for now. */
  readonly state: "new" | "answering" | "failing" | "resting";
  /** When it last gave a price, ms since the epoch. */
  readonly answeredAtMs: number | undefined;
  /** Why it last failed. */
  readonly failure: string | undefined;
  /** Rounds it gave a price in, and rounds in which some question to it failed. */
  readonly answers: number;
  readonly failures: number;
}

/** What a round needs. */
export interface RoundOptions {
  readonly assets: AssetTable;
  readonly sources: readonly PriceSource[];
  /** Longest any source is waited for. */
  readonly timeoutMs: number;
  readonly maxDeviationBps: number;
  readonly clock: Clock;
  /** Told of every question to a source that failed. */
  readonly onSourceFailure: (sourceId: string, reason: string) => void;
}

/** Asks all sources, over and over. */
export interface PriceRounds {
  /**
   * Runs one round. Never rejects; an asset nobody agrees on is left out.
   * @param urgently - also asks sources that rest because they failed too often
   */
  run(urgently: boolean): Promise<ReadonlyMap<string, SettledPrice>>;
  status(): readonly SourceStatus[];
}

/** Makes the rounds; they keep a breaker per source. */
export function createRounds(options: RoundOptions): PriceRounds {
  const asked = options.sources.map((source) => new AskedSource(source, options));
  const { clock, maxDeviationBps } = options;
  return {
    async run(urgently) {
      const answers = await Promise.all(asked.map((source) => source.ask(urgently)));
      const readings = answers.flat();
      const nowMs = clock.now();
      const prices = new Map<string, SettledPrice>();
      for (const [symbol, { bounds }] of Object.entries(options.assets)) {
        const ofAsset = readings.filter(({ asset }) => asset === symbol);
        const settled = settle(bounds, ofAsset, { nowMs, maxDeviationBps });
        if (settled) prices.set(symbol, settled);
      }
      return prices;
    },
    status: () => asked.map((source) => source.status()),
  };
}

/** One source with what it has shown so far. */
class AskedSource {
  readonly #breaker = new Breaker();
  #state: "new" | "answering" | "failing" = "new";
  #answeredAtMs: number | undefined;
  #failure: string | undefined;
  #answers = 0;
  #failures = 0;

  constructor(
    private readonly source: PriceSource,
    private readonly options: RoundOptions,
  ) {}

  /** Asks all questions at once. Never rejects. */
  async ask(urgently: boolean): Promise<SourcedReading[]> {
    const { source, options } = this;
    const { clock } = options;
    if (!this.#breaker.allows(clock.monotonic(), urgently)) return [];
    const timeoutMs = Math.min(options.timeoutMs, source.timeoutMs);
    const answers = await Promise.allSettled(
      source.questions.map((question) => question({ timeoutMs, clock })),
    );
    const readings: Reading[] = [];
    const causes: unknown[] = [];
    for (const answer of answers) {
      if (answer.status === "fulfilled") readings.push(...answer.value);
      else causes.push(answer.reason);
    }
    this.#judge(readings.length > 0, causes);
    const { id: sourceId, standsInFor } = source;
    return readings.map(({ asset, price, atMs, maxAgeMs }) => ({
      asset,
      price,
      atMs,
      maxAgeMs,
      sourceId,
      standsInFor,
    }));
  }

  status(): SourceStatus {
    const { id, kind } = this.source;
    const isResting = !this.#breaker.allows(this.options.clock.monotonic());
    return {
      id,
      kind,
      state: isResting ? "resting" : this.#state,
      answeredAtMs: this.#answeredAtMs,
      failure: this.#failure,
      answers: this.#answers,
      failures: this.#failures,
    };
  }

  #judge(hasAnswered: boolean, causes: readonly unknown[]): void {
    const { clock, onSourceFailure } = this.options;
    for (const cause of causes) {
      this.#failure = cause instanceof Error ? cause.message : String(cause);
      onSourceFailure(this.source.id, this.#failure);
    }
    if (causes.length > 0) this.#failures++;
    const pauses = causes.map((cause) => (cause instanceof RefusedError ? cause.pauseMs : 0));
    const pauseMs = Math.max(0, ...pauses);
    if (hasAnswered) {
      this.#answers++;
      this.#answeredAtMs = clock.now();
    }
    this.#state = hasAnswered ? "answering" : "failing";
    if (!hasAnswered || pauseMs > 0) this.#breaker.failed(clock.monotonic(), pauseMs);
    else this.#breaker.succeeded();
  }
}
