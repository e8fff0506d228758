import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Hop, Quote } from "../../src/swap/model.ts";
import { startSwapApi, startSwapWorld, type SwapWorld } from "./support.ts";

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

const valid = { inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000" };
const UNKNOWN = "0x00000000000000000000000000000000000000AA";

async function refusal(change: object) {
  const { status, code, body, cost } = await api.post("quote", { ...valid, ...change });
  expect(body).toEqual({ success: false, error: expect.any(String) });
  expect(cost ?? "0").toBe("0");
  return [status, code, body.error];
}

describe("400 POST /swap/quote", () => {
  test.each(["inputToken", "outputToken", "inputAmount"])("without %s", async (field) => {
    for (const value of [undefined, null]) {
      expect(await refusal({ [field]: value })).toEqual([
        400,
        "MISSING_FIELD",
        "Missing required fields",
      ]);
    }
  });

  test.each(["0", "-1", "1.5", "1e6", "0x10", "abc", " 1", "", (1n << 256n).toString()])(
    "inputAmount %p",
    async (inputAmount) => {
      const [status, code, error] = await refusal({ inputAmount });
      expect([status, code]).toEqual([400, "INVALID_FIELD"]);
      expect(error).toContain("inputAmount");
    },
  );

  test("inputAmount as a number", async () => {
    expect((await refusal({ inputAmount: 1_000_000 }))[2]).toContain("inputAmount");
  });

  test.each([-1, 5_000.01, 10_000, "50"])("slippageTolerance %p", async (slippageTolerance) => {
    const [status, code, error] = await refusal({ slippageTolerance });
    expect([status, code]).toEqual([400, "INVALID_FIELD"]);
    expect(error).toContain("slippageTolerance");
  });

  test("an unknown symbol is named", async () => {
    expect(await refusal({ outputToken: "DOGE" })).toEqual([
      400,
      "UNKNOWN_TOKEN",
      "Unknown token: DOGE",
    ]);
  });

  test("the same token twice", async () => {
    const [status, code, error] = await refusal({ outputToken: world.token("USDC") });
    expect([status, code]).toEqual([400, "INVALID_FIELD"]);
    expect(error).toContain("outputToken");
  });

  test.each(["venue-z", "retired-dex"])("the venue %s is named", async (dexId) => {
    const [status, code, error] = await refusal({ dexId });
    expect([status, code]).toEqual([400, "UNKNOWN_VENUE"]);
    expect(error).toContain(dexId);
  });

  test.each([7, 1.5, 1_151_111_081_099_710])("the chain %p is named", async (chainId) => {
    expect(await refusal({ chainId })).toEqual([
      400,
      "UNSUPPORTED_CHAIN",
      `Unsupported chainId: ${chainId}`,
    ]);
  });

  test("a body that is not an object", async () => {
    const { status, code } = await api.post("quote", [valid]);
    expect([status, code]).toEqual([400, "INVALID_JSON"]);
  });
});

describe("404 POST /swap/quote", () => {
  test("a valid address that has no pool", async () => {
    for (const change of [{ outputToken: UNKNOWN }, { inputToken: UNKNOWN }]) {
      expect(await refusal(change)).toEqual([404, "NO_ROUTE", "No valid route found"]);
    }
  });

  test("an amount that no pool can fill", async () => {
    for (const inputAmount of [(10n ** 40n).toString(), ((1n << 256n) - 1n).toString()]) {
      expect(await refusal({ inputAmount })).toEqual([404, "NO_ROUTE", "No valid route found"]);
    }
  });

  test("an amount so small that every pool would pay nothing", async () => {
    const change = { inputToken: "EURC", outputToken: "USDC", inputAmount: "1" };
    expect(await refusal(change)).toEqual([404, "NO_ROUTE", "No valid route found"]);
  });
});

describe("a pool that runs dry", () => {
  test("does not hide the others", async () => {
    const order = { ...valid, outputToken: "USDT", inputAmount: (10n ** 32n).toString() };
    const { status, body } = await api.post("quote", order);
    expect(status).toBe(200);
    const routes: Quote["routeOptions"] = [body.data, ...body.data.routeOptions];
    expect(new Set(routes.map(({ dexId }) => dexId))).toContain("venue-b");
    const hops = body.data.route.hops as Hop[];
    const first = hops.filter(({ tokenIn }) => tokenIn === body.data.inputToken);
    const sold = first.reduce((sum, { amountIn }) => sum + BigInt(amountIn), 0n);
    expect(sold).toBe(10n ** 32n);
  });
});
