import { afterAll, beforeAll, expect, test } from "bun:test";
import { startSwapWorld, type SwapWorld, wallet } from "./support.ts";

/** The same chain twice: with all venues in memory, and with one behind its quoter. */
let inMemory: SwapWorld;
let mixed: SwapWorld;

beforeAll(async () => {
  inMemory = await startSwapWorld();
  const venues = inMemory.chain.deployment.venues.map((venue) =>
    venue.id === "venue-a" ? { ...venue, pricing: "quoter" as const } : venue,
  );
  mixed = await startSwapWorld({}, { venues });
});
afterAll(() => Promise.all([inMemory.stop(), mixed.stop()]));

const order = { inputToken: "USDC", outputToken: "EURC", inputAmount: "250000000000" };

test("a venue behind its quoter gives what its pools give in memory, one pool at a time", async () => {
  const local = await inMemory.service.quote({ ...order, dexId: "venue-a" });
  const quoted = await mixed.service.quote({ ...order, dexId: "venue-a" });
  expect(quoted.route.type).toBe("single");
  const singles = [local, ...local.routeOptions].flatMap((route) =>
    ("route" in route ? route.route : route).type === "single" ? [route.outputAmount] : [],
  );
  expect(singles).toContain(quoted.outputAmount);
});

test("its pools stand beside the routes in memory, best first, and can be built", async () => {
  const quote = await mixed.service.quote(order);
  expect(quote.blockNumber).toBe(Number(await mixed.client.getBlockNumber()));
  const ids = new Set([quote, ...quote.routeOptions].map(({ dexId }) => dexId));
  expect(ids).toContain("venue-a");
  for (const { type, hops } of [quote.route, ...quote.routeOptions]) {
    if (hops.some(({ dexId }) => dexId === "venue-a")) expect(type).toBe("single");
  }
  const only = await mixed.service.quote({ ...order, dexId: "venue-a" });
  const built = await mixed.service.buildTx({ quote: only, userAddress: wallet.address });
  expect(built.swap.data.length).toBeGreaterThan(10);
});
