import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Hop, type Quote, QuoteSchema } from "../../src/swap/model.ts";
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

/** What the hops that buy a token pay together. */
function paidBy(hops: readonly Hop[], token: string): bigint {
  const last = hops.filter(({ tokenOut }) => tokenOut === token);
  return last.reduce((sum, { amountOut }) => sum + BigInt(amountOut), 0n);
}

/** How far an option is behind, after gas where that makes a difference. */
function bpsBehind({ reason }: { reason: string }): number[] {
  const figures = [...reason.matchAll(/([\d.]+) bps (?:less|after)/g)].map(([, bps]) =>
    Number(bps),
  );
  return figures.slice(-1);
}

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
    });
    expect(body.data.outputToken.toLowerCase()).toBe(world.token("EURC").toLowerCase());
    const out = BigInt(body.data.outputAmount);
    expect(body.data.minOut).toBe(((out * 9_950n) / 10_000n).toString());
    expect(paidBy(body.data.route.hops, body.data.outputToken)).toBe(out);
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
      const behind = data.routeOptions.flatMap(bpsBehind);
      expect(behind.length).toBeGreaterThan(1);
      expect(behind).toEqual(behind.toSorted((a: number, b: number) => a - b));
      expect(data.routeOptions.length).toBeGreaterThanOrEqual(3);
      expect(data.routeOptions.some(({ type }: { type: string }) => type === "single")).toBe(true);
      for (const option of data.routeOptions) {
        expect(option.reason).toMatch(/bps less output|more gas/);
        const paid = paidBy(option.hops, data.outputToken);
        expect(paid).toBe(BigInt(option.outputAmount));
      }
    }
  });

  test("a split says what every pool sells, all there is of each token", async () => {
    const split = await api.post("quote", { ...request, inputAmount: "3000000000000" });
    const { route, inputToken, outputToken, outputAmount } = split.body.data as Quote;
    expect(route.type).toBe("split");
    expect(new Set(route.hops.map(({ pool }) => pool)).size).toBe(route.hops.length);
    const left = new Map([[inputToken, 3_000_000_000_000n]]);
    for (const { tokenIn, tokenOut, amountIn, amountOut } of route.hops) {
      left.set(tokenIn, (left.get(tokenIn) ?? 0n) - BigInt(amountIn));
      left.set(tokenOut, (left.get(tokenOut) ?? 0n) + BigInt(amountOut));
    }
    for (const [token, amount] of left) {
      expect(amount).toBe(token === outputToken ? BigInt(outputAmount) : 0n);
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
    expect(new Set(ids)).toEqual(new Set(["venue-a"]));
    const hops = [data.route, ...data.routeOptions].flatMap((route) => route.hops);
    expect(hops.every(({ dexId }: Hop) => dexId === "venue-a")).toBe(true);
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
    const order = { ...request, inputAmount: "3000000000000", dexId: "native-dex" };
    const tiny = (await api.post("quote", { ...order, inputAmount: "1000" })).body.data;
    const { data } = (await api.post("quote", order)).body;
    const single = [
      { ...data, hops: data.route.hops, type: data.route.type },
      ...data.routeOptions,
    ].find(({ type }) => type === "single");
    const rate = Number(single.outputAmount) / 3_000_000_000_000;
    const share = (1 - single.priceImpact / 100) * (1 - single.feeBps / 10_000);
    const spotRate = Number(tiny.outputAmount) / 1_000 / (1 - 0.003);
    expect(rate / spotRate / share).toBeCloseTo(1, 8);
    expect(single.priceImpact).toBeGreaterThan(5);
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
