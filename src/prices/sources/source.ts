import type { Clock } from "../../lib/clock.ts";
import type { UpstreamPool } from "../../upstream/index.ts";
import type { Asset, AssetTable } from "../assets.ts";
import type { Usd } from "../usd.ts";

/** One price as one source told it. */
export interface Reading {
  /** Symbol. */
  readonly asset: string;
  readonly price: Usd;
  /** When the source says the price was true; of receipt where it says nothing. */
  readonly atMs: number;
  /** Older than this it is not used. */
  readonly maxAgeMs: number;
}

/** What a question may use of its surroundings. */
export interface AskContext {
  /** Deadline of the question. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * One question to a source. Assets missing from its answer, or priced absurdly, are left out.
 * @throws when there is no answer, one of another shape, or an error in disguise
 */
export type Question = (context: AskContext) => Promise<Reading[]>;

/** A place that publishes prices. */
export interface PriceSource {
  readonly id: string;
  readonly kind: "aggregator" | "exchange" | "oracle";
  readonly timeoutMs: number;
  /**
   * Id of the source this one repeats in part, so that it counts only for assets that one has no
   * fresh price of.
   */
  readonly standsInFor?: string;
  /** Asked at the same time; one that fails costs only its own assets. */
  readonly questions: readonly Question[];
}

/** What sources are made with. */
export interface SourceSetup {
  readonly assets: AssetTable;
  /** By source id: base URL in place of the public one. */
  readonly baseUrls: Readonly<Record<string, string>>;
  /** By source id: the operator's own API key. */
  readonly apiKeys: Readonly<Record<string, string>>;
  /** Reaches the chains oracles are on. */
  readonly chains: Pick<UpstreamPool, "call">;
  /** Chains with upstreams. */
  readonly chainIds: ReadonlySet<number>;
}

/** Makes a source; undefined where the installation lacks what it takes, such as a key. */
export type SourceFactory = (setup: SourceSetup) => PriceSource | undefined;

/**
 * The name a source has for each asset, in the table's order.
 * @param nameOf - undefined for an asset the source does not price
 */
export function namesOf<Name>(
  assets: AssetTable,
  nameOf: (asset: Asset) => Name | undefined,
): ReadonlyMap<string, Name> {
  const names = new Map<string, Name>();
  for (const [symbol, asset] of Object.entries(assets)) {
    const name = nameOf(asset);
    if (name !== undefined) names.set(symbol, name);
  }
  return names;
}

/**
 * Reads every asset from an answer that holds several; a broken one costs only itself.
 * @param read - reads one asset, or throws
 * @throws the first failure when no asset could be read
 */
export function readEach<Name>(
  names: ReadonlyMap<string, Name>,
  read: (asset: string, name: Name) => Reading,
): Reading[] {
  const readings: Reading[] = [];
  let firstFailure: unknown;
  for (const [asset, name] of names) {
    try {
      readings.push(read(asset, name));
    } catch (failure) {
      firstFailure ??= failure;
    }
  }
  if (readings.length === 0) throw firstFailure;
  return readings;
}

/**
 * A unix time in seconds as ms.
 * @throws TypeError when it is none
 */
export function parseUnixSeconds(value: unknown): number {
  const atMs = Number(value) * 1_000;
  if (value === null || value === "" || !Number.isSafeInteger(atMs) || atMs <= 0) {
    throw new TypeError("the price is not dated");
  }
  return atMs;
}
