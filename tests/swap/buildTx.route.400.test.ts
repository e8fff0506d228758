import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Hop, Quote } from "../../src/swap/model.ts";
import { startSwapWorld, type SwapWorld, wallet } from "./support.ts";

let world: SwapWorld;
let split: Quote;
let multi: Quote;

beforeAll(async () => {
  world = await startSwapWorld({}, { connectors: ["USDC", "USDT", "WETH"] });
  const order = { inputToken: "USDC", outputToken: "EURC" };
  split = await world.service.quote({ ...order, inputAmount: "3000000000000" });
  const other = await world.service.quote({ ...order, inputAmount: "1000000000" });
  const option = other.routeOptions.find(({ type }) => type === "multi")!;
  const { type, hops, outputAmount, minOut, dexId } = option;
  multi = { ...other, outputAmount, minOut, dexId, route: { type, hops } };
});
afterAll(() => world.stop());

function build(quote: Quote, change: (hops: Hop[]) => object[]) {
  const hops = change(structuredClone(quote.route.hops));
  const changed = { ...quote, route: { ...quote.route, hops } };
  return world.service.buildTx({ quote: changed as Quote, userAddress: wallet.address });
}

/** The first hop as two of half its amount. */
function halved([first, ...rest]: Hop[]): Hop[] {
  const half = BigInt(first!.amountIn) / 2n;
  const other = BigInt(first!.amountIn) - half;
  const part = (amount: bigint): Hop => ({ ...first!, amountIn: amount.toString() });
  return [part(half), part(other), ...rest];
}

describe("400 POST /swap/build-tx, by a route that does not hold together", () => {
  test("untouched, both are built", async () => {
    expect([split.route.type, multi.route.type]).toEqual(["split", "multi"]);
    for (const quote of [split, multi]) {
      expect((await build(quote, (hops) => hops)).swap.value).toBe("0");
    }
  });

  const changes: [string, () => Quote, (hops: Hop[]) => object[]][] = [
    ["a part is missing", () => split, ([, ...rest]) => rest],
    [
      "a part is raised",
      () => split,
      ([first, ...rest]) => [
        { ...first!, amountIn: (BigInt(first!.amountIn) + 1n).toString() },
        ...rest,
      ],
    ],
    [
      "a part is no amount",
      () => split,
      ([first, ...rest]) => [{ ...first!, amountIn: "-1" }, ...rest],
    ],
    [
      "a part is left out",
      () => split,
      ([first, ...rest]) => {
        const { amountIn: _, ...bare } = first!;
        return [bare, ...rest];
      },
    ],
    ["a pool stands twice", () => split, halved],
    [
      "more pools share a token than may",
      () => split,
      ([first]) => {
        const amountIn = (BigInt(split.inputAmount) / 9n).toString();
        return Array.from({ length: 9 }, () => ({ ...first!, amountIn }));
      },
    ],
    [
      "there are more hops than the executor takes",
      () => multi,
      (hops) => Array.from({ length: 25 }, (_, index) => hops[index % 2]!),
    ],
    ["hops are out of order", () => multi, (hops) => hops.toReversed()],
    [
      "a token is bought and never sold",
      () => split,
      ([first, ...rest]) => [{ ...first!, tokenOut: multi.route.hops[0]!.tokenOut }, ...rest],
    ],
    [
      "a token is sold and never bought",
      () => split,
      (hops) => [...hops, { ...multi.route.hops[1]!, amountIn: "1" }],
    ],
    [
      "a hop sells other than the one before it pays",
      () => multi,
      ([first, second]) => [first!, { ...second!, amountIn: "1" }],
    ],
    [
      "a later hop's amount is in hex",
      () => multi,
      ([first, second]) => [first!, { ...second!, amountIn: "0x1" }],
    ],
    [
      "hops pay more than the quote says",
      () => split,
      (hops) => hops.map((hop) => ({ ...hop, amountOut: (BigInt(hop.amountOut) + 1n).toString() })),
    ],
    ["a hop is missing", () => multi, ([, second]) => [second!]],
    ["the last hop is missing", () => multi, ([first]) => [first!]],
    [
      "hops do not meet",
      () => multi,
      ([first, second]) => [first!, { ...second!, tokenIn: first!.tokenIn }],
    ],
    [
      "a hop leads back",
      () => multi,
      ([first]) => [first!, { ...first!, tokenIn: first!.tokenOut, tokenOut: first!.tokenIn }],
    ],
    [
      "a hop's target is no address",
      () => multi,
      ([first, second]) => [{ ...first!, tokenOut: "WETH" }, second!],
    ],
    [
      "a later hop's pool is the caller's",
      () => multi,
      ([first, second]) => [first!, { ...second!, pool: wallet.address }],
    ],
    [
      "no hop is at the quote's venue",
      () => ({ ...multi, dexId: "native-dex" }),
      (hops) => hops.map((hop) => ({ ...hop, dexId: "venue-b" })),
    ],
  ];
  test.each(changes)("%s", async (_, quote, change) => {
    await expect(build(quote(), change)).rejects.toMatchObject({
      code: "INVALID_QUOTE",
      status: 400,
    });
  });

  test("a hop at a venue that does not exist", async () => {
    const built = build(multi, ([first, ...rest]) => [{ ...first!, dexId: "venue-z" }, ...rest]);
    await expect(built).rejects.toMatchObject({ code: "UNKNOWN_VENUE" });
  });
});
