import { type Address, BaseError, type PublicClient } from "viem";
import type { Chain } from "../chains/index.ts";
import type { Random } from "../lib/clock.ts";
import { checksummed, type Market } from "../market/index.ts";
import type { UpstreamPool } from "../upstream/types.ts";
import { quoterV2Abi, v2RouterAbi } from "./abi.ts";
import { createChainClients, isUnreachable } from "./clients.ts";
import { ReadBatch } from "./multicall.ts";
import type { PricedHop, PricedRoute } from "./quoteSource.ts";

/** Quotes that wait to be audited; more are dropped. */
const MAX_WAITING = 16;

/** A quote from memory: its best route, and the block it is exact for. */
export interface QuotedFromMemory {
  readonly chain: Chain;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly route: PricedRoute;
}

/**
 * How an audit ended. `no-block`: no node has the quote's block any more, or another one in its
 * place. `unreachable`: no node answered. `dropped`: too many were waiting.
 */
export type AuditOutcome = "agreed" | "differed" | "no-block" | "unreachable" | "dropped";

/** Told about audits. */
export interface AuditObserver {
  audit(event: { readonly chainId: number; readonly outcome: AuditOutcome }): void;
  /** A pool in memory pays something else than its venue's own quoter says. */
  difference(event: AuditDifference): void;
}

export interface AuditDifference {
  readonly chainId: number;
  readonly blockNumber: bigint;
  readonly dexId: string;
  readonly pool: Address;
  readonly tokenIn: Address;
  readonly amountIn: bigint;
  readonly quotedOut: bigint;
  /** undefined: the quoter reverts. */
  readonly onChainOut: bigint | undefined;
}

export interface QuoteAuditorDependencies {
  readonly upstream: Pick<UpstreamPool, "transport">;
  readonly market: Pick<Market, "distrust">;
  /** Part of all quotes that is audited, 0 to 1. */
  readonly share: number;
  readonly random: Random;
  readonly observer: AuditObserver;
}

/** Compares quotes with the chain, behind the back of those who asked for them. */
export interface QuoteAuditor {
  /** Takes up a part of the quotes it is offered. Returns at once and never throws. */
  offer(quoted: QuotedFromMemory): void;
  /** Takes up nothing more; resolves when nothing is under way. */
  stop(): Promise<void>;
}

/**
 * An auditor that asks QuoterV2 and `getAmountsOut` what each hop pays at the quote's own block, in
 * one call per quote and one quote at a time. A pool that differs is loaded anew and not quoted
 * meanwhile.
 */
export function createQuoteAuditor(dependencies: QuoteAuditorDependencies): QuoteAuditor {
  const { upstream, market, share, random, observer } = dependencies;
  const clients = createChainClients(upstream);
  const waiting: QuotedFromMemory[] = [];
  let isStopped = false;
  let underWay: Promise<void> | undefined;

  async function work(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const chainId = next.chain.id;
      const result = await audit(clients(chainId), next).catch(failureOf);
      observer.audit({ chainId, outcome: result.outcome });
      for (const difference of result.differences) {
        observer.difference(difference);
        const reason = `${difference.quotedOut} out is ${difference.onChainOut ?? "none"} on chain`;
        await market.distrust(chainId, difference.pool, reason);
      }
    }
  }

  return {
    offer(quoted) {
      if (isStopped || random() >= share) return;
      if (waiting.length >= MAX_WAITING) {
        observer.audit({ chainId: quoted.chain.id, outcome: "dropped" });
        return;
      }
      waiting.push(quoted);
      underWay ??= work().finally(() => (underWay = undefined));
    },
    async stop() {
      isStopped = true;
      waiting.length = 0;
      await underWay;
    },
  };
}

interface AuditResult {
  readonly outcome: AuditOutcome;
  readonly differences: readonly AuditDifference[];
}

async function audit(
  client: PublicClient,
  { chain, blockNumber, blockHash, route }: QuotedFromMemory,
): Promise<AuditResult> {
  const { hops } = route;
  const batch = new ReadBatch();
  const answers = hops.map((hop) => addHop(batch, hop));
  await batch.send(client, chain, blockNumber);
  const differences = hops.flatMap((hop, index): AuditDifference[] => {
    const onChainOut = answers[index]?.();
    if (onChainOut === hop.amountOut) return [];
    const { venue, pool, tokenIn, amountIn, amountOut: quotedOut } = hop;
    const where = { chainId: chain.id, blockNumber, dexId: venue.id, pool };
    return [{ ...where, tokenIn, amountIn, quotedOut, onChainOut }];
  });
  if (differences.length === 0) return { outcome: "agreed", differences };
  // A block that was replaced since has pools of its own.
  const { hash } = await client.getBlock({ blockNumber });
  if (hash !== blockHash) return { outcome: "no-block", differences: [] };
  return { outcome: "differed", differences };
}

/** What a hop's own venue says it pays; undefined where that reverts. */
function addHop(batch: ReadBatch, hop: PricedHop): () => bigint | undefined {
  const { venue, tokenIn, tokenOut, amountIn, feePips: fee } = hop;
  const address = checksummed(venue.quoter);
  if (venue.type === "v2") {
    const functionName = "getAmountsOut";
    const args = [amountIn, [tokenIn, tokenOut]] as const;
    const amounts = batch.add({ address, abi: v2RouterAbi, functionName, args });
    return () => amounts()?.[1];
  }
  const functionName = "quoteExactInputSingle";
  const args = [{ tokenIn, tokenOut, amountIn, fee, sqrtPriceLimitX96: 0n }] as const;
  const quoted = batch.add({ address, abi: quoterV2Abi, functionName, args });
  return () => quoted()?.[0];
}

/** A node that answers, but not with what the block holds, does not have the block any more. */
function failureOf(error: unknown): AuditResult {
  const isAnswer = error instanceof BaseError && !isUnreachable(error);
  return { outcome: isAnswer ? "no-block" : "unreachable", differences: [] };
}
