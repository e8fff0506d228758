import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { custom, RpcRequestError } from "viem";
import { seededRandom, systemClock } from "../../src/lib/clock.ts";
import { type ChainReader, createMarket, type Market } from "../../src/market/index.ts";
import { type QuotedFromMemory } from "../../src/swap/audit.ts";
import {
  type AuditOutcome,
  createMarketReader,
  createQuoteAuditor,
  createSwapService,
  type QuoteAuditor,
} from "../../src/swap/index.ts";
import { createMetrics, observeMarket, silentLogger } from "../../src/telemetry/index.ts";
import { createUpstreamPool } from "../../src/upstream/index.ts";
import { type UpstreamPool, UpstreamUnavailableError } from "../../src/upstream/types.ts";
import { CHAIN_ID, send, startSwapWorld, type SwapWorld, wallet } from "./support.ts";

let world: SwapWorld;
let upstream: UpstreamPool;
beforeAll(async () => {
  world = await startSwapWorld();
  upstream = createUpstreamPool({ registry: world.registry });
});
afterAll(async () => {
  upstream.close();
  await world.stop();
});

const parts: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of parts.splice(0)) await part.stop();
});

/** A node whose logs can be kept from the market, and whose state can be held back. */
class LossyReader implements ChainReader {
  hidesLogs = false;
  held: Promise<void> | undefined;
  readonly #inner = createMarketReader(upstream)(CHAIN_ID);

  async request(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    if (method === "eth_getLogs" && this.hidesLogs) return [];
    if (method === "eth_call") await this.held;
    return this.#inner.request(method, params, signal);
  }
}

/** Collects how audits end; `next` resolves with the next one. */
class Outcomes {
  readonly all: AuditOutcome[] = [];
  #waiting: ((outcome: AuditOutcome) => void)[] = [];

  add(outcome: AuditOutcome): void {
    this.all.push(outcome);
    for (const resolve of this.#waiting.splice(0)) resolve(outcome);
  }

  next(): Promise<AuditOutcome> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** The feature with an auditor that takes up every quote, and everything it logs. */
function audited() {
  const metrics = createMetrics();
  const errors: object[] = [];
  const outcomes = new Outcomes();
  const log = { ...silentLogger, error: (fields: object) => void errors.push(fields) };
  const observer = observeMarket(metrics, log, () => market.status());
  const reader = new LossyReader();
  const reloaded = Promise.withResolvers<void>();
  const distrusted = new Set<string>();
  const market: Market = createMarket({
    registry: world.registry,
    reader: () => reader,
    clock: systemClock,
    observer: {
      ...observer,
      pool(event) {
        observer.pool(event);
        if (event.state === "failed") distrusted.add(event.pool);
        else if (distrusted.has(event.pool)) reloaded.resolve();
      },
    },
  });
  const dropped = Promise.withResolvers<void>();
  const auditor = createQuoteAuditor({
    upstream,
    market: {
      async distrust(...pool) {
        await market.distrust(...pool);
        dropped.resolve();
      },
    },
    share: 1,
    random: seededRandom(1),
    observer: {
      difference: observer.difference,
      audit(event) {
        observer.audit(event);
        outcomes.add(event.outcome);
      },
    },
  });
  const { registry, config } = world;
  const swap = { registry, upstream, market, config: config.swap, clock: systemClock, auditor };
  parts.push(auditor, market);
  const service = createSwapService(swap);
  return { service, market, metrics, errors, outcomes, reader, reloaded, dropped, distrusted };
}

test("60 random quotes agree with QuoterV2 and getAmountsOut, and are counted", async () => {
  const { service, outcomes, metrics, errors } = audited();
  const random = seededRandom(4);
  const { tokens } = world.chain.deployment;
  for (let run = 0; run < 60; run += 1) {
    const from = tokens[run % tokens.length]!;
    const to = tokens[(run + 1 + (run % 3)) % tokens.length]!;
    const inputAmount = String(
      BigInt(Math.floor(10 ** (2 + random() * 4))) * 10n ** BigInt(from.decimals - 2),
    );
    if (from === to) continue;
    const ended = outcomes.next();
    await service.quote({ inputToken: from.symbol, outputToken: to.symbol, inputAmount });
    expect(await ended).toBe("agreed");
  }
  expect(errors).toEqual([]);
  const text = await metrics.render();
  const count = outcomes.all.length;
  expect(count).toBeGreaterThan(40);
  expect(text).toContain(`causeway_market_audits_total{chain="5042",outcome="agreed"} ${count}`);
  expect(text).toMatch(/causeway_market_block\{chain="5042"\} [1-9]/);
  expect(text).toMatch(/causeway_market_pools_quotable\{chain="5042"\} [1-9]/);
});

test("a pool whose logs were lost is noticed, logged once, not quoted, and loaded anew", async () => {
  const { service, market, outcomes, errors, reader, reloaded, dropped, distrusted } = audited();
  const order = { inputToken: "USDC", outputToken: "EURC", inputAmount: "5000000000" };
  const onVenue = { ...order, dexId: "native-dex" };
  let ended = outcomes.next();
  const quote = await service.quote(onVenue);
  expect(await ended).toBe("agreed");
  expect(quote.route.hops).toHaveLength(1);
  const { pool } = quote.route.hops[0]!;

  const built = await service.buildTx({ quote, userAddress: wallet.address });
  reader.hidesLogs = true;
  if (built.approval) await send(world, built.approval);
  await send(world, built.swap);
  await market.snapshot(CHAIN_ID, { maxAgeMs: 0 });
  reader.hidesLogs = false;

  const held = Promise.withResolvers<void>();
  reader.held = held.promise;
  ended = outcomes.next();
  const stale = await service.quote(onVenue);
  expect(await ended).toBe("differed");
  await dropped.promise;
  expect([...distrusted]).toEqual([pool]);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({
    chainId: CHAIN_ID,
    dexId: "native-dex",
    pool,
    blockNumber: stale.blockNumber,
    amountIn: onVenue.inputAmount,
    quotedOut: stale.outputAmount,
  });
  ended = outcomes.next();
  const meanwhile = await service.quote(onVenue);
  expect(await ended).toBe("agreed");
  const options = [meanwhile.route, ...meanwhile.routeOptions];
  const used = options.flatMap(({ hops }) => hops.map((hop) => hop.pool));
  expect(used).not.toContain(pool);

  reader.held = undefined;
  held.resolve();
  await reloaded.promise;
  await market.snapshot(CHAIN_ID, { maxAgeMs: 0 });
  ended = outcomes.next();
  const fresh = await service.quote(onVenue);
  expect(await ended).toBe("agreed");
  expect(fresh.route.hops[0]?.pool).toBe(pool);
  expect(BigInt(fresh.outputAmount)).toBeLessThan(BigInt(stale.outputAmount));
  expect(errors).toHaveLength(1);
});

/** A quote as it is offered to an auditor. */
async function quoted(): Promise<QuotedFromMemory> {
  const { registry, config, market } = world;
  const offered = Promise.withResolvers<QuotedFromMemory>();
  const auditor: Pick<QuoteAuditor, "offer"> = { offer: offered.resolve };
  const swap = { registry, upstream, market, config: config.swap, clock: systemClock, auditor };
  const service = createSwapService(swap);
  await service.quote({ inputToken: "USDC", outputToken: "EURC", inputAmount: "7000000" });
  return offered.promise;
}

/** An auditor over a node of which every call is answered by `answer`. */
function auditorOver(answer: () => Promise<unknown>, share = 1, random = seededRandom(1)) {
  const outcomes = new Outcomes();
  const auditor = createQuoteAuditor({
    upstream: { transport: () => custom({ request: answer }, { retryCount: 0 }) },
    market: world.market,
    share,
    random,
    observer: {
      audit: ({ outcome }) => outcomes.add(outcome),
      difference: () => expect.unreachable("nothing was compared"),
    },
  });
  parts.push(auditor);
  return { auditor, outcomes };
}

test("a node that has lost the block, and nodes that don't answer, are no differences", async () => {
  const one = await quoted();
  const lost = { code: -32_000, message: "missing trie node" };
  const failures: [AuditOutcome, Error][] = [
    ["no-block", new RpcRequestError({ body: {}, error: lost, url: "node" })],
    ["unreachable", new UpstreamUnavailableError("no node answered")],
  ];
  for (const [outcome, error] of failures) {
    const { auditor, outcomes } = auditorOver(() => Promise.reject(error));
    const ended = outcomes.next();
    auditor.offer(one);
    expect(await ended).toBe(outcome);
  }
});

test("works on one quote at a time, keeps few waiting, and drops the rest", async () => {
  const one = await quoted();
  const released = Promise.withResolvers<void>();
  let [running, most] = [0, 0];
  const { auditor, outcomes } = auditorOver(async () => {
    most = Math.max(most, ++running);
    await released.promise;
    running -= 1;
    throw new UpstreamUnavailableError("no node answered");
  });
  for (let run = 0; run < 40; run += 1) auditor.offer(one);
  expect(outcomes.all).toEqual(Array<AuditOutcome>(40 - 17).fill("dropped"));
  released.resolve();
  while (outcomes.all.length < 40) await outcomes.next();
  expect(most).toBe(1);
  expect(outcomes.all.filter((outcome) => outcome === "unreachable")).toHaveLength(17);
});

test("takes up its share, and nothing once stopped", async () => {
  const one = await quoted();
  const pick = seededRandom(9);
  const expected = Array.from({ length: 20_000 }, pick).filter((drawn) => drawn < 0.01).length;
  const hanging = Promise.withResolvers<void>();
  const lost = async () => {
    await hanging.promise;
    throw new UpstreamUnavailableError("no node answered");
  };
  const { auditor, outcomes } = auditorOver(lost, 0.01, seededRandom(9));
  for (let run = 0; run < 20_000; run += 1) auditor.offer(one);
  // One is under way, 16 wait.
  expect(outcomes.all).toHaveLength(expected - 17);
  expect(Math.abs(expected - 200)).toBeLessThan(50);
  const stopped = auditor.stop();
  hanging.resolve();
  await stopped;
  expect(outcomes.all).toHaveLength(expected - 16);
  for (let run = 0; run < 2_000; run += 1) auditor.offer(one);
  expect(outcomes.all).toHaveLength(expected - 16);
});
