import { createRegistry } from "../../src/chains/index.ts";
import type { NetworkData } from "../../src/config/index.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import {
  type ChainReader,
  createMarket,
  type Market,
  type MarketObserver,
  type MarketPool,
  NodeAnswerError,
  type Snapshot,
} from "../../src/market/index.ts";
import type { PreparedChain } from "../support/sandbox.ts";

/** What a node may be made to do with a call; `undefined`: answer as ever. */
export type Interference = (
  method: string,
  params: readonly unknown[],
) => Promise<unknown> | undefined;

/** A reader of one node which counts calls and can be interfered with. */
export class CountingReader implements ChainReader {
  readonly calls = new Map<string, number>();
  interfere: Interference = () => undefined;

  constructor(private readonly url: string) {}

  get total(): number {
    return this.calls.values().reduce((sum, count) => sum + count, 0);
  }

  async request(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
    const interference = this.interfere(method, params);
    if (interference) return interference;
    const response = await fetch(this.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal,
    });
    const { result, error } = (await response.json()) as {
      result?: unknown;
      error?: { message: string };
    };
    if (error) throw new NodeAnswerError(`${method}: ${error.message}`);
    return result;
  }
}

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  #nowMs = 1_000_000;
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = {
        untilMs: this.#nowMs + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason);
      });
    });
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const { untilMs, wake } of this.#sleepers) if (untilMs <= this.#nowMs) wake();
  }
}

export interface LocalMarket {
  readonly market: Market;
  readonly reader: CountingReader;
  readonly chain: NetworkData;
}

/** The market over one prepared chain. Stop it in the end. */
export function localMarket(
  prepared: PreparedChain,
  options: {
    readonly clock?: Clock;
    readonly observer?: MarketObserver;
    readonly seenHead?: () => number | undefined;
    readonly maxAgeMs?: number;
    readonly network?: Partial<NetworkData>;
  } = {},
): LocalMarket {
  const { clock = systemClock, network, ...rest } = options;
  const { chainId, deployment } = prepared;
  const { tokens, venues, multicall3, wrappedNative } = deployment;
  const registry = createRegistry({
    useDefaultUpstreams: false,
    override: {
      [chainId]: {
        tokens: [...tokens],
        venues: [...venues],
        multicall3,
        wrappedNative,
        connectors: ["USDC", "WETH"],
        ...network,
      },
    },
  });
  const reader = new CountingReader(prepared.url);
  const market = createMarket({ registry, reader: () => reader, clock, ...rest });
  return { market, reader, chain: registry.byId(chainId)! };
}

/** The state of all pools at the chain's newest block, loaded by a market of its own. */
export async function freshlyLoaded(prepared: PreparedChain): Promise<Snapshot> {
  const { market } = localMarket(prepared);
  const snapshot = await market.snapshot(prepared.chainId);
  await market.stop();
  return snapshot;
}

/** A snapshot's pools in an order of their own, for comparing. */
export function poolsByAddress({ pools }: Snapshot): MarketPool[] {
  return [...pools].sort((a, b) => (a.address < b.address ? -1 : 1));
}
