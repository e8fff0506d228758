import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { QuoteSchema } from "../../src/swap/model.ts";
import { Value } from "@sinclair/typebox/value";
import { CHAIN_ID, startSwapApi, startSwapWorld, type SwapWorld } from "./support.ts";

let world: SwapWorld;
let api: Awaited<ReturnType<typeof startSwapApi>>;

beforeAll(async () => {
  world = await startSwapWorld();
  api = await startSwapApi(world);
});
afterAll(async () => {
  await api.stop();
  await world.stop();
});

const request = { inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000000" };

describe("200 POST /swap/quote", () => {
  test("has every field of the contract, with addresses in place of symbols", async () => {
    const { status, body, cost } = await api.post("quote", request);
    expect([status, cost, body.success]).toEqual([200, "2", true]);
    expect([...Value.Errors(QuoteSchema, body.data)]).toEqual([]);
    expect(body.data).toMatchObject({
      inputToken: world.token("USDC"),
      inputAmount: "1000000000",
      chainId: CHAIN_ID,
      blockNumber: Number(await world.client.getBlockNumber()),
      platformFeeAmount: "0",
      route: { type: "single" },
    });
    expect(body.data.outputToken.toLowerCase()).toBe(world.token("EURC").toLowerCase());
    const out = BigInt(body.data.outputAmount);
    expect(body.data.minOut).toBe(((out * 9_950n) / 10_000n).toString());
    expect(body.data.route.hops[0].amountOut).toBe(body.data.outputAmount);
  });

  test("the pair of tokens may be named by address in any casing", async () => {
    const bySymbol = await api.post("quote", request);
    const byAddress = await api.post("quote", {
      ...request,
      inputToken: world.token("USDC").toLowerCase(),
      outputToken: `0x${world.token("EURC").slice(2).toUpperCase()}`,
    });
    expect(byAddress.status).toBe(200);
    expect(byAddress.body).toEqual(bySymbol.body);
  });

  test("the best venue wins, and the others follow in order, each with its reason", async () => {
    for (const inputAmount of ["1000000", "1000000000000", "50000000000000"]) {
      const { data } = (await api.post("quote", { ...request, inputAmount })).body;
      const outputs = [data, ...data.routeOptions].map((route) => BigInt(route.outputAmount));
      expect(outputs).toEqual(outputs.toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0)));
      expect(data.routeOptions.length).toBe(4);
      for (const option of data.routeOptions) expect(option.reason).toMatch(/bps less output/);
    }
  });

  test("another venue is best for another size", async () => {
    const winners = ["1000000", "1000000000000", "50000000000000"].map(
      async (inputAmount) => (await api.post("quote", { ...request, inputAmount })).body.data.dexId,
    );
    expect(await Promise.all(winners)).toEqual(["venue-b", "venue-a", "native-dex"]);
  });

  test("dexId restricts the route and its options to one venue", async () => {
    const { data } = (await api.post("quote", { ...request, dexId: "venue-a" })).body;
    const ids = [data, ...data.routeOptions].map(({ dexId }) => dexId);
    expect(ids).toEqual(["venue-a", "venue-a", "venue-a"]);
  });

  test("slippage sets minOut and nothing else", async () => {
    const plain = (await api.post("quote", request)).body.data;
    for (const slippageTolerance of [0, 1, 12.5, 5_000]) {
      const { data } = (await api.post("quote", { ...request, slippageTolerance })).body;
      const kept = BigInt((10_000 - slippageTolerance) * 10);
      expect(BigInt(data.minOut)).toBe((BigInt(data.outputAmount) * kept) / 100_000n);
      expect({ ...data, minOut: "", routeOptions: [] }).toEqual({
        ...plain,
        minOut: "",
        routeOptions: [],
      });
    }
  });

  test("impact and fees multiply back to the pool's spot price", async () => {
    const big = { ...request, inputAmount: "3000000000000", dexId: "native-dex" };
    const tiny = { ...request, inputAmount: "1000", dexId: "native-dex" };
    const { data } = (await api.post("quote", big)).body;
    const spot = (await api.post("quote", tiny)).body.data;
    const rate = Number(data.outputAmount) / 3_000_000_000_000;
    const share = (1 - data.priceImpact / 100) * (1 - data.feeBps / 10_000);
    const spotRate = Number(spot.outputAmount) / 1_000 / (1 - 0.003);
    expect(rate / spotRate / share).toBeCloseTo(1, 8);
    expect(data.priceImpact).toBeGreaterThan(5);
  });
});

describe("200 GET /swap/dexes", () => {
  test("lists every venue of every EVM network with the contract's fields", async () => {
    const { status, body, cost } = await api.get("dexes");
    expect([status, cost, body.success]).toEqual([200, "1", true]);
    const here = body.data.filter((dex: { chainId: number }) => dex.chainId === CHAIN_ID);
    expect(here.map((dex: { id: string; enabled: boolean }) => [dex.id, dex.enabled])).toEqual([
      ["venue-a", true],
      ["venue-b", true],
      ["native-dex", true],
      ["retired-dex", false],
    ]);
    expect(Object.keys(here[0]).sort()).toEqual([
      "chainId",
      "enabled",
      "factoryAddress",
      "id",
      "name",
      "quoterAddress",
      "routerAddress",
      "supportedTokens",
      "type",
    ]);
    expect(here[0].supportedTokens).toContain(world.token("USDC"));
  });
});
