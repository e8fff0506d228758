import { type AssetSymbol, assetSymbols } from "../assets.ts";
import type { Usd } from "../usd.ts";

/** One price as one source told it. */
export interface Reading {
  readonly asset: AssetSymbol;
  readonly price: Usd;
  /** When the source says the price was true; of receipt where it says nothing. */
  readonly atMs: number;
}

/** One request of a source and the pure parser of its answer. */
export interface FeedRequest {
  /** Path and query below the base URL. */
  readonly path: string;
  /**
   * Reads the documented answer. Assets it lacks or prices absurdly are left out.
   * @param body - answer text of a 200
   * @param receivedAtMs - stamp for answers without a time of their own
   * @throws when the answer has another shape, or is an error in disguise
   */
  readonly parse: (body: string, receivedAtMs: number) => Reading[];
}

/** A place that publishes prices. */
export interface PriceSource {
  readonly id: string;
  /** Base URL used unless the configuration names another. */
  readonly publicBaseUrl: string;
  /** A reading older than this is dropped. */
  readonly maxAgeMs: number;
  readonly requests: readonly FeedRequest[];
}

/**
 * Reads every asset from an answer that holds several; a broken one costs only itself.
 * @param read - reads one asset, or throws
 * @throws the first failure when no asset could be read
 */
export function readEach(read: (asset: AssetSymbol) => Reading): Reading[] {
  const readings: Reading[] = [];
  let firstFailure: unknown;
  for (const asset of assetSymbols) {
    try {
      readings.push(read(asset));
    } catch (failure) {
      firstFailure ??= failure;
    }
  }
  if (readings.length === 0) throw firstFailure;
  return readings;
}
