import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { zeroAddress } from "viem";
import type { Quote } from "../../src/swap/model.ts";
import { NATIVE } from "../../src/swap/native.ts";
import { send, startSwapApi, startSwapWorld, type SwapWorld, wallet } from "./support.ts";

let world: SwapWorld;
let api: Awaited<ReturnType<typeof startSwapApi>>;
let quote: Quote;

beforeAll(async () => {
  world = await startSwapWorld();
  api = await startSwapApi(world);
  const request = { inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000000" };
  quote = (await api.post("quote", { ...request, dexId: "venue-a" })).body.data;
});
afterAll(async () => {
  await api.stop();
  await world.stop();
});

async function refusal(body: object): Promise<[number, string | null, string]> {
  const answer = await api.post("build-tx", body);
  expect(answer.body).toEqual({ success: false, error: expect.any(String) });
  return [answer.status, answer.code, answer.body.error];
}

const withQuote = (change: object) => ({
  quote: { ...quote, ...change },
  userAddress: wallet.address,
});
/** As in the smallest request: without a route. */
const minimal = (change: object) => {
  const { inputToken, outputToken, inputAmount, outputAmount, dexId } = quote;
  const bare = { inputToken, outputToken, inputAmount, outputAmount, dexId };
  return { quote: { ...bare, ...change }, userAddress: wallet.address };
};
const withRoute = (change: object) => withQuote({ route: { ...quote.route, ...change } });
const withHop = (change: object) => withRoute({ hops: [{ ...quote.route.hops[0], ...change }] });

describe("400 POST /swap/build-tx", () => {
  test("names what is missing, userAddress first", async () => {
    expect((await refusal({}))[2]).toBe("Missing userAddress");
    expect((await refusal({ quote }))[2]).toBe("Missing userAddress");
    expect((await refusal({ userAddress: wallet.address }))[2]).toBe("Missing quote");
    expect((await refusal({ userAddress: wallet.address, quote: null }))[2]).toBe("Missing quote");
    const { outputAmount: _, ...partial } = quote;
    expect((await refusal({ userAddress: wallet.address, quote: partial }))[2]).toBe(
      "Missing quote.outputAmount",
    );
  });

  test("users who cannot be the signer", async () => {
    const users = [
      "0x1234",
      "alice.eth",
      zeroAddress,
      wallet.address.replace("0x90F79", "0x90f79"),
      quote.inputToken,
      quote.outputToken,
      world.chain.deployment.executor,
      quote.route.hops[0]!.pool,
      world.token("WETH"),
      NATIVE,
      world.chain.deployment.multicall3,
      ...world.chain.deployment.venues.flatMap(({ router, factory, quoter }) => [
        router,
        factory,
        quoter,
      ]),
    ];
    for (const userAddress of users) {
      const [status, code, error] = await refusal({ quote, userAddress });
      expect([userAddress, status, code]).toEqual([userAddress, 400, "INVALID_FIELD"]);
      expect(error).toContain("userAddress");
    }
  });

  test("a pool that only the new route passes through cannot be the signer", async () => {
    const { body } = await api.post("quote", {
      inputToken: "USDC",
      outputToken: "EURC",
      inputAmount: "1000000000000",
      dexId: "native-dex",
    });
    for (const { pool } of body.data.route.hops) {
      const { route: _, ...bare } = body.data;
      const [status, code] = await refusal({ quote: bare, userAddress: pool });
      expect([status, code]).toEqual([400, "INVALID_FIELD"]);
    }
  });

  const wrongAmounts = [
    "0",
    "000",
    "-1",
    "+1",
    "0x10",
    "1.5",
    "1.0",
    "1e18",
    "1,000",
    "1_000",
    " 1",
    "1 ",
    "1\n",
    "１",
    "∞",
    "NaN",
    "null",
    (2n ** 256n).toString(),
    "9".repeat(78),
    "9".repeat(50_000),
    "",
    1_000_000,
    1.5,
    -1,
    true,
    [],
    {},
  ];
  test.each(["inputAmount", "outputAmount", "minOut"])(
    "%s that is no atomic amount",
    async (field) => {
      for (const amount of wrongAmounts) {
        for (const body of [withQuote({ [field]: amount }), minimal({ [field]: amount })]) {
          const [status, code, error] = await refusal(body);
          expect([amount, status, code]).toEqual([amount, 400, "INVALID_FIELD"]);
          expect(error).toContain(`quote.${field}`);
        }
      }
    },
  );

  test("an amount no pool could take, up to the largest there is", async () => {
    for (const bits of [160n, 192n, 255n, 256n]) {
      const inputAmount = (2n ** bits - 1n).toString();
      for (const dexId of ["venue-a", "venue-b", "native-dex"]) {
        const [status, code] = await refusal(minimal({ inputAmount, dexId }));
        expect([status, code]).toEqual([400, expect.stringMatching(/QUOTE_EXPIRED|SIMULATION/)]);
      }
    }
  });

  test.each([999, 0, -1, 5042.5, 1e300, 900])("chain %p", async (chainId) => {
    const [status, code] = await refusal(withQuote({ chainId }));
    expect([status, code]).toEqual([400, "UNSUPPORTED_CHAIN"]);
  });

  test.each(["5042", "0x13b2", true, {}])("chain %p, which is no number", async (chainId) => {
    const [status, code] = await refusal(withQuote({ chainId }));
    expect([status, code]).toEqual([400, "INVALID_FIELD"]);
  });

  const tampered: [string, () => object, string][] = [
    ["unknown token", () => withQuote({ inputToken: "DOGE" }), "UNKNOWN_TOKEN"],
    ["same token", () => withQuote({ outputToken: quote.inputToken }), "INVALID_FIELD"],
    ["another token", () => withQuote({ outputToken: world.token("USDT") }), "INVALID_QUOTE"],
    ["unknown venue", () => withQuote({ dexId: "venue-z" }), "UNKNOWN_VENUE"],
    ["disabled venue", () => withQuote({ dexId: "retired-dex" }), "UNKNOWN_VENUE"],
    ["another venue", () => withQuote({ dexId: "venue-b" }), "INVALID_QUOTE"],
    ["another chain of ours", () => withQuote({ chainId: 84532 }), "UNKNOWN_VENUE"],
    [
      "tokens the other way round",
      () => withQuote({ inputToken: quote.outputToken, outputToken: quote.inputToken }),
      "INVALID_QUOTE",
    ],
    ["the native asset", () => withQuote({ inputToken: NATIVE }), "INVALID_QUOTE"],
    ["token that is no address", () => withQuote({ inputToken: "0x1234" }), "UNKNOWN_TOKEN"],
    ["larger inputAmount", () => withQuote({ inputAmount: "2000000000" }), "INVALID_QUOTE"],
    ["smaller outputAmount", () => withQuote({ outputAmount: quote.minOut }), "INVALID_QUOTE"],
    ["route of another type", () => withRoute({ type: "split" }), "INVALID_QUOTE"],
    ["route of no type", () => withRoute({ type: "teleport" }), "INVALID_FIELD"],
    ["route that is no object", () => withQuote({ route: "single" }), "INVALID_FIELD"],
    ["hops that are no list", () => withRoute({ hops: {} }), "INVALID_FIELD"],
    [
      "minOut above outputAmount",
      () => withQuote({ outputAmount: "5", minOut: "6" }),
      "INVALID_QUOTE",
    ],
    ["minOut of next to nothing", () => withQuote({ minOut: "1" }), "INVALID_QUOTE"],
    ["pool of the caller's", () => withHop({ pool: wallet.address }), "INVALID_QUOTE"],
    ["pool of another tier", () => withHop({ fee: 3_000 }), "INVALID_QUOTE"],
    ["tier that does not exist", () => withHop({ fee: 42 }), "INVALID_QUOTE"],
    ["hop's venue", () => withHop({ dexId: "venue-b" }), "INVALID_QUOTE"],
    ["hop's tokenIn", () => withHop({ tokenIn: world.token("USDT") }), "INVALID_QUOTE"],
    ["hop's tokenOut", () => withHop({ tokenOut: world.token("USDT") }), "INVALID_QUOTE"],
    ["hop's amountIn", () => withHop({ amountIn: "1" }), "INVALID_QUOTE"],
    ["hop's amountIn in hex", () => withHop({ amountIn: "0x3b9aca00" }), "INVALID_QUOTE"],
    ["hop's amountOut", () => withHop({ amountOut: "1" }), "INVALID_QUOTE"],
    ["hop's amountOut below 0", () => withHop({ amountOut: "-1" }), "INVALID_QUOTE"],
    ["hop's venue that does not exist", () => withHop({ dexId: "venue-z" }), "INVALID_QUOTE"],
    ["hop that is no object", () => withQuote({ route: { hops: [5] } }), "INVALID_FIELD"],
    [
      "a second hop",
      () => withQuote({ route: { hops: [...quote.route.hops, ...quote.route.hops] } }),
      "INVALID_QUOTE",
    ],
  ];
  test.each(tampered)("a tampered quote: %s", async (_, body, expected) => {
    const [status, code] = await refusal(body());
    expect([status, code]).toEqual([400, expected]);
  });

  test("an output that was never quoted has expired, and the message says by how much", async () => {
    const out = BigInt(quote.outputAmount);
    const minOut = ((out * 10_100n) / 10_000n).toString();
    const [status, code, error] = await refusal(withQuote({ outputAmount: minOut, minOut }));
    expect([status, code]).toEqual([400, "QUOTE_EXPIRED"]);
    expect(error).toContain("99.00 bps below");
  });

  test("a pair that the venue has no pool for", async () => {
    const { inputToken, inputAmount, outputAmount, dexId } = quote;
    const outputToken = "0x00000000000000000000000000000000000000AA";
    const body = { inputToken, outputToken, inputAmount, outputAmount, dexId };
    const answer = await refusal({ quote: body, userAddress: wallet.address });
    expect(answer.slice(0, 2)).toEqual([400, "QUOTE_EXPIRED"]);
  });

  test("a quote the market has left", async () => {
    const order = { inputToken: "WETH", outputToken: "EURC", inputAmount: "1000000000000000000" };
    const stale = (await api.post("quote", { ...order, dexId: "venue-b" })).body.data;
    const mover = await api.post("quote", {
      ...order,
      inputAmount: "20000000000000000000",
      dexId: "venue-b",
    });
    const built = (
      await api.post("build-tx", { quote: mover.body.data, userAddress: wallet.address })
    ).body.data;
    await send(world, built.approval);
    await send(world, built.swap);
    const [status, code, error] = await refusal({ quote: stale, userAddress: wallet.address });
    expect([status, code]).toEqual([400, "QUOTE_EXPIRED"]);
    expect(error).toMatch(/bps below the minimum/);
  });
});

describe("400 POST /swap/build-tx, by the state of the chain", () => {
  test("a swap that would revert is refused with the decoded reason", async () => {
    // A token that reports a large balance and allowance but refuses every transferFrom.
    const code = "0x5f3560e01c6323b872dd14601957600160ff1b5f5260205ff35b5f5ffd";
    const token = world.token("USDT");
    const order = { inputToken: "USDT", outputToken: "USDC", inputAmount: "1000000" };
    const quoted = (await api.post("quote", { ...order, dexId: "venue-b" })).body.data;
    await world.chain.rpc.call("anvil_setCode", [token, code]);
    const [status, errorCode, error] = await refusal({
      quote: quoted,
      userAddress: wallet.address,
    });
    expect([status, errorCode]).toEqual([400, "SIMULATION_FAILED"]);
    expect(error.toLowerCase()).toContain(`transferfailed(token: ${token.toLowerCase()})`);
  });

  test("a chain without an executor, or with none at its address", async () => {
    const nowhere = "0x00000000000000000000000000000000000000EE";
    const empty = await startSwapWorld({}, { executor: nowhere });
    try {
      const request = { inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000" };
      const quoted = await empty.service.quote(request);
      const body = { quote: quoted, userAddress: wallet.address };
      await expect(empty.service.buildTx(body)).rejects.toMatchObject({
        code: "EXECUTOR_NOT_DEPLOYED",
        status: 400,
      });
    } finally {
      await empty.stop();
    }
  });
});

describe("502, by any of the endpoints", () => {
  test("no node of the chain answers", async () => {
    const [dead, blind] = await Promise.all([startSwapWorld(), startSwapWorld()]);
    const request = { inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000" };
    const quoted = await dead.service.quote(request);
    await Promise.all([dead.chain.stop(), blind.chain.stop()]);
    const unreachable = { code: "UPSTREAM_UNREACHABLE", status: 502 };
    try {
      // What is in memory is good for a while; what never was there cannot be quoted.
      await expect(blind.service.quote(request)).rejects.toMatchObject(unreachable);
      const body = { quote: quoted, userAddress: wallet.address };
      await expect(dead.service.buildTx(body)).rejects.toMatchObject(unreachable);
    } finally {
      await Promise.all([dead.stop(), blind.stop()]);
    }
  }, 60_000);
});
