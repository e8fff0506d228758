import { afterAll, beforeAll, expect, test } from "bun:test";
import { createMarket } from "../../src/market/index.ts";
import { createMarketReader, createSwapService } from "../../src/swap/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createUpstreamPool } from "../../src/upstream/index.ts";
import { CHAIN_ID, startSwapWorld, type SwapWorld } from "./support.ts";

let world: SwapWorld;
beforeAll(async () => {
  world = await startSwapWorld();
});
afterAll(() => world.stop());

test("a quote asks no node: none is called while 300 quotes are answered from memory", async () => {
  const { registry, config } = world;
  const upstream = createUpstreamPool({ registry });
  const market = createMarket({
    registry,
    reader: createMarketReader(upstream),
    clock: systemClock,
  });
  const snapshot = await market.snapshot(CHAIN_ID);
  await market.stop();
  let calls = 0;
  const refuse = () => {
    calls += 1;
    throw new Error("a node was asked");
  };
  const service = createSwapService({
    registry,
    upstream: { transport: refuse },
    market: { snapshot: async () => snapshot },
    config: config.swap,
    clock: systemClock,
  });
  // Clients are made on first use; a quote makes none.
  for (let run = 1; run <= 300; run += 1) {
    const inputAmount = (BigInt(run) * 97_000_000n).toString();
    const quote = await service.quote({ inputToken: "USDC", outputToken: "EURC", inputAmount });
    expect(quote.blockNumber).toBe(Number(snapshot.blockNumber));
  }
  expect(calls).toBe(0);
  upstream.close();
});

test("a connector that is named twice counts once: no pool stands twice in a route", async () => {
  const repeated = await startSwapWorld({}, { connectors: ["USDT", "usdt", "USDT", "WETH"] });
  try {
    const inputAmount = 10n ** 12n;
    const trade = { inputToken: "USDC", outputToken: "EURC", inputAmount: inputAmount.toString() };
    const { route, routeOptions } = await repeated.service.quote(trade);
    for (const { hops } of [route, ...routeOptions]) {
      expect(new Set(hops.map(({ pool }) => pool)).size).toBe(hops.length);
    }
    expect(route.hops.length).toBeGreaterThan(4);
  } finally {
    await repeated.stop();
  }
});
