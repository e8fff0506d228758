import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeFunctionData, type Hex, parseAbi, parseEther } from "viem";
import { readArtifact } from "../../src/sandbox/deploy/artifacts.ts";
import {
  approve,
  balances,
  chain,
  deployExecutorWith,
  erc20,
  failure,
  type Hop,
  NATIVE,
  NEVER,
  order,
  same,
  sellers,
  startWorld,
  type Step,
  swap,
  v2Hop,
  v3Hop,
  type World,
} from "./support/world.ts";

const quoterAbi = readArtifact("v3Quoter").abi;
const routerAbi = parseAbi([
  "function getAmountsOut(uint256, address[]) view returns (uint256[])",
  "function addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
]);

let world: World;
const usdc = (whole: number) => BigInt(whole) * 10n ** 6n;

beforeAll(async () => {
  world = await startWorld();
  // Stray balances: no swap may use or move them.
  const { USDC, WETH, EURC } = world.tokens;
  for (const token of [USDC, WETH, EURC]) {
    const args = [world.executor, 12_345n] as const;
    const data = encodeFunctionData({ abi: erc20, functionName: "transfer", args });
    await world.send(world.user, token, data);
  }
  await world.rpc("anvil_setBalance", [world.executor, "0x1234"]);
}, 60_000);
afterAll(() => world.stop());

/** What the v2 router would pay. */
async function v2Quote(amountIn: bigint, ...path: Hex[]): Promise<bigint> {
  const amounts = await world.client.readContract({
    address: world.v2.router,
    abi: routerAbi,
    functionName: "getAmountsOut",
    args: [amountIn, path],
  });
  return amounts.at(-1) ?? 0n;
}

/** What the v3 quoter says. */
async function v3Quote(amountIn: bigint, tokenIn: Hex, tokenOut: Hex, fee = 500): Promise<bigint> {
  const { result } = await world.client.simulateContract({
    address: world.v3.quoter,
    abi: quoterAbi,
    functionName: "quoteExactInputSingle",
    args: [{ tokenIn, tokenOut, amountIn, fee, sqrtPriceLimitX96: 0n }],
  });
  return (result as readonly bigint[])[0] ?? 0n;
}

/** Runs the swap and checks everything that must hold after any swap; returns the output. */
async function checkedSwap(
  args: Parameters<typeof swap>[1],
  options: { value?: bigint; executor?: Hex } = {},
): Promise<bigint> {
  const executor = options.executor ?? world.executor;
  const tokenOut = same(args.tokenOut, NATIVE) ? undefined : args.tokenOut;
  const held = await balances(world, executor, world.bystander);
  const before = tokenOut && (await world.balance(tokenOut, world.user));
  const { event, receipt } = await swap(world, args, options);

  expect(await balances(world, executor, world.bystander)).toEqual(held);
  expect(receipt.logs.some(({ topics }) => isApprovalBy(topics, executor))).toBe(false);
  expect(event).toMatchObject({
    user: world.user,
    tokenIn: args.tokenIn,
    tokenOut: args.tokenOut,
    amountIn: args.amountIn,
  });
  if (tokenOut && before !== undefined) {
    expect(event.amountOut).toBe((await world.balance(tokenOut, world.user)) - before);
  }
  return event.amountOut;
}

const APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
function isApprovalBy([topic, owner]: Hex[], executor: Hex): boolean {
  return topic === APPROVAL && same(`0x${owner?.slice(26)}`, executor);
}

describe("output is what the venue's own contracts quote", () => {
  test("one v2 hop, both directions", async () => {
    const { USDC, EURC } = world.tokens;
    const quoted = await v2Quote(usdc(1_000), USDC, EURC);
    const out = await checkedSwap(order(USDC, usdc(1_000), [v2Hop(EURC)]));
    expect(out).toBe(quoted);
    const back = await v2Quote(out, EURC, USDC);
    expect(await checkedSwap(order(EURC, out, [v2Hop(USDC)]))).toBe(back);
  });

  test("one v3 hop, both directions", async () => {
    const { USDC, EURC } = world.tokens;
    const quoted = await v3Quote(usdc(50_000), USDC, EURC);
    const out = await checkedSwap(order(USDC, usdc(50_000), [v3Hop(EURC)]));
    expect(out).toBe(quoted);
    const back = await v3Quote(out, EURC, USDC);
    expect(await checkedSwap(order(EURC, out, [v3Hop(USDC)]))).toBe(back);
  });

  test.each([
    ["v2 → v2", "22"],
    ["v2 → v3", "23"],
    ["v3 → v2", "32"],
    ["v3 → v3", "33"],
  ])("two hops, %s", async (_, kinds) => {
    const { USDC, EURC, USDT } = world.tokens;
    const amountIn = usdc(2_000);
    const first =
      kinds[0] === "2"
        ? await v2Quote(amountIn, USDT, USDC)
        : await v3Quote(amountIn, USDT, USDC, 100);
    const second =
      kinds[1] === "2" ? await v2Quote(first, USDC, EURC) : await v3Quote(first, USDC, EURC);
    const hops = [
      kinds[0] === "2" ? v2Hop(USDC) : v3Hop(USDC, 100),
      kinds[1] === "2" ? v2Hop(EURC) : v3Hop(EURC),
    ];
    expect(await checkedSwap(order(USDT, amountIn, hops))).toBe(second);
  });

  test("three hops, v3 → v2 → v3", async () => {
    const { USDC, EURC, USDT, WETH } = world.tokens;
    const amountIn = usdc(3_000);
    const one = await v3Quote(amountIn, USDT, EURC);
    const two = await v2Quote(one, EURC, WETH);
    const three = await v3Quote(two, WETH, USDC, 3_000);
    const hops = [v3Hop(EURC), v2Hop(WETH), v3Hop(USDC, 3_000)];
    expect(await checkedSwap(order(USDT, amountIn, hops))).toBe(three);
  });

  test("a split over v2 and v3", async () => {
    const { USDC, EURC } = world.tokens;
    const [a, b] = [usdc(30_000), usdc(70_000)];
    const expected = (await v2Quote(a, USDC, EURC)) + (await v3Quote(b, USDC, EURC));
    const hops = sellers(USDC, [a, v2Hop(EURC)], [b, v3Hop(EURC)]);
    expect(await checkedSwap(order(USDC, a + b, [v2Hop(EURC)], { hops }))).toBe(expected);
  });

  test("a graph: two pools into one token, all of it split over two more, one beside them", async () => {
    const { USDC, EURC, USDT } = world.tokens;
    const [a, b, c] = [usdc(20_000), usdc(30_000), usdc(5_000)];
    const middle = (await v2Quote(a, USDT, USDC)) + (await v3Quote(b, USDT, USDC, 100));
    const toPair = middle / 3n;
    const expected =
      (await v2Quote(toPair, USDC, EURC)) +
      (await v3Quote(middle - toPair, USDC, EURC)) +
      (await v3Quote(c, USDT, EURC));
    const hops = [
      ...sellers(USDT, [a, v2Hop(USDC)], [b, v3Hop(USDC, 100)], [c, v3Hop(EURC)]),
      ...sellers(USDC, [toPair, v2Hop(EURC)], [middle - toPair, v3Hop(EURC)]),
    ];
    const args = order(USDT, a + b + c, [v2Hop(EURC)], { hops });
    expect(await checkedSwap(args)).toBe(expected);
  });

  test("two pools into one token, all of it sold by one pair", async () => {
    const { USDC, EURC, USDT } = world.tokens;
    const [a, b] = [usdc(2_000), usdc(3_000)];
    const middle = (await v2Quote(a, USDT, USDC)) + (await v3Quote(b, USDT, USDC, 100));
    const expected = await v2Quote(middle, USDC, EURC);
    const hops = [
      ...sellers(USDT, [a, v2Hop(USDC)], [b, v3Hop(USDC, 100)]),
      ...sellers(USDC, [1n, v2Hop(EURC)]),
    ];
    expect(await checkedSwap(order(USDT, a + b, [v2Hop(EURC)], { hops }))).toBe(expected);
  });

  test("more or less than planned on the way is shared in proportion, to the last unit", async () => {
    const { USDC, EURC, USDT } = world.tokens;
    const amountIn = usdc(1_000);
    const middle = await v3Quote(amountIn, USDT, USDC, 100);
    for (const planned of [middle / 2n, middle, middle * 2n]) {
      const there = await v3Quote(amountIn, USDT, USDC, 100);
      const [first, second] = [planned / 4n, planned - planned / 4n];
      const toPair = planned === there ? first : (there * first) / planned;
      const expected =
        (await v2Quote(toPair, USDC, EURC)) + (await v3Quote(there - toPair, USDC, EURC));
      const hops = [
        ...chain(USDT, amountIn, [v3Hop(USDC, 100)]),
        ...sellers(USDC, [first, v2Hop(EURC)], [second, v3Hop(EURC)]),
      ];
      expect(await checkedSwap(order(USDT, amountIn, [v2Hop(EURC)], { hops }))).toBe(expected);
    }
  });

  test("a venue's own v2 fee", async () => {
    const { USDC, EURC } = world.tokens;
    const [, pairs] = world.venues;
    const executor = await deployExecutorWith(world, { venues: [{ ...pairs!, feeBps: 100 }] });
    await approve(world, world.user, USDC, executor);
    const [reserveIn, reserveOut] = await reserves(USDC, EURC);
    const afterFee = usdc(1_000) * 9_900n;
    const expected = (afterFee * reserveOut) / (reserveIn * 10_000n + afterFee);
    const args = order(USDC, usdc(1_000), [{ venue: 0, fee: 0, tokenOut: EURC }]);
    expect(await checkedSwap(args, { executor })).toBe(expected);
  });
});

async function reserves(tokenIn: Hex, tokenOut: Hex): Promise<[bigint, bigint]> {
  const pair = await world.client.readContract({
    address: world.v2.factory,
    abi: parseAbi(["function getPair(address,address) view returns (address)"]),
    functionName: "getPair",
    args: [tokenIn, tokenOut],
  });
  return [await world.balance(tokenIn, pair), await world.balance(tokenOut, pair)];
}

describe("native asset", () => {
  test("in: the value is wrapped and swapped", async () => {
    const { USDC, WETH } = world.tokens;
    const value = parseEther("2");
    const quoted = await v3Quote(value, WETH, USDC, 3_000);
    const args = order(WETH, value, [v3Hop(USDC, 3_000)], { tokenIn: NATIVE });
    expect(await checkedSwap(args, { value })).toBe(quoted);
  });

  test("in, split over v2 and v3", async () => {
    const { USDC, WETH } = world.tokens;
    const half = parseEther("1");
    const expected = (await v2Quote(half, WETH, USDC)) + (await v3Quote(half, WETH, USDC, 3_000));
    const hops = sellers(WETH, [half, v2Hop(USDC)], [half, v3Hop(USDC, 3_000)]);
    const args = order(WETH, 2n * half, [v2Hop(USDC)], { tokenIn: NATIVE, hops });
    expect(await checkedSwap(args, { value: 2n * half })).toBe(expected);
  });

  test("out: the caller receives native", async () => {
    const { USDC, WETH } = world.tokens;
    const quoted = await v2Quote(usdc(6_000), USDC, WETH);
    const before = await world.client.getBalance({ address: world.user });
    const args = order(USDC, usdc(6_000), [v2Hop(WETH)], { tokenOut: NATIVE });
    const { event, gasUsed, receipt } = await swap(world, args);
    const price = BigInt((receipt as unknown as { effectiveGasPrice: Hex }).effectiveGasPrice);
    const after = await world.client.getBalance({ address: world.user });
    expect(event.amountOut).toBe(quoted);
    expect(after - before + BigInt(gasUsed) * price).toBe(quoted);
  });

  test("out, with a fee in the wrapped token", async () => {
    const { USDC, WETH } = world.tokens;
    const quoted = await v2Quote(usdc(6_000), USDC, WETH);
    const fee = (quoted * 50n) / 10_000n;
    const before = await world.balance(WETH, world.feeRecipient);
    const args = order(USDC, usdc(6_000), [v2Hop(WETH)], { tokenOut: NATIVE, feeBps: 50 });
    expect(await checkedSwap(args)).toBe(quoted - fee);
    expect(await world.balance(WETH, world.feeRecipient)).toBe(before + fee);
  });

  test("a wrong value is refused, and a value with a token input too", async () => {
    const { USDC, EURC, WETH } = world.tokens;
    const native = order(WETH, 1_000n, [v2Hop(USDC)], { tokenIn: NATIVE });
    expect(await failure(world, native, { value: 999n })).toBe("WrongNativeValue");
    expect(await failure(world, native, { value: 1_001n })).toBe("WrongNativeValue");
    const token = order(USDC, usdc(1), [v2Hop(EURC)]);
    expect(await failure(world, token, { value: 1n })).toBe("WrongNativeValue");
  });

  test("is refused where the chain has no wrapped token", async () => {
    const { USDC, WETH } = world.tokens;
    const executor = await deployExecutorWith(world, {
      wrappedNative: "0x0000000000000000000000000000000000000000",
    });
    const args = order(WETH, 1_000n, [v2Hop(USDC)], { tokenIn: NATIVE });
    expect(await failure(world, args, { value: 1_000n, executor })).toBe("NativeNotSupported");
  });

  test("sent without a swap is refused", async () => {
    const receipt = await world.send(world.user, world.executor, "0x", 1n, true);
    expect(receipt.status).toBe("0x0");
  });
});

describe("platform fee", () => {
  test("is floored, goes to the recipient, and the rest to the caller", async () => {
    const { USDC, EURC } = world.tokens;
    const gross = await v3Quote(usdc(7_777), USDC, EURC);
    const fee = (gross * 25n) / 10_000n;
    const before = await world.balance(EURC, world.feeRecipient);
    const args = order(USDC, usdc(7_777), [v3Hop(EURC)], { feeBps: 25, minAmountOut: gross - fee });
    expect(await checkedSwap(args)).toBe(gross - fee);
    expect(await world.balance(EURC, world.feeRecipient)).toBe(before + fee);
  });

  test("the minimum counts after the fee", async () => {
    const { USDC, EURC } = world.tokens;
    const gross = await v3Quote(usdc(7_777), USDC, EURC);
    const net = gross - (gross * 25n) / 10_000n;
    const terms = { feeBps: 25, minAmountOut: net + 1n };
    const args = order(USDC, usdc(7_777), [v3Hop(EURC)], terms);
    expect(await failure(world, args)).toBe("InsufficientOutput");
  });

  test("above the cap is refused, and any fee where nobody receives it", async () => {
    const { USDC, EURC } = world.tokens;
    const at = (feeBps: number) => order(USDC, usdc(10), [v2Hop(EURC)], { feeBps });
    expect(await failure(world, at(100))).toBe("nothing");
    expect(await failure(world, at(101))).toBe("FeeTooHigh");
    const executor = await deployExecutorWith(world, {
      feeRecipient: "0x0000000000000000000000000000000000000000",
    });
    expect(await failure(world, at(1), { executor })).toBe("FeeTooHigh");
  });
});

/** What a transfer of a token with 1 % tax leaves. */
const kept = (amount: bigint) => amount - amount / 100n;

describe("tokens that are not quite ERC-20", () => {
  test("USDT returns nothing from its transfers", async () => {
    const { USDC, USDT } = world.tokens;
    const quoted = await v2Quote(usdc(500), USDT, USDC);
    expect(await checkedSwap(order(USDT, usdc(500), [v2Hop(USDC)]))).toBe(quoted);
    const back = await v3Quote(usdc(400), USDC, USDT, 100);
    const gross = order(USDC, usdc(400), [v3Hop(USDT, 100)], { feeBps: 10 });
    expect(await checkedSwap(gross)).toBe(back - (back * 10n) / 10_000n);
  });

  test("a token that burns 1 % of each transfer, sold, bought and in the middle", async () => {
    const { USDC, EURC } = world.tokens;
    const json = "@uniswap/v2-periphery/build/DeflatingERC20.json";
    const { abi, bytecode } = await Bun.file(Bun.resolveSync(json, import.meta.dir)).json();
    const taxed = await world.deploy({ abi, bytecode: `0x${bytecode}` }, [10n ** 24n]);
    for (const other of [USDC, EURC]) {
      await approve(world, world.provider, taxed, world.v2.router);
      const supply = other === USDC ? usdc(100_000) : 10n ** 23n;
      const args = [taxed, other, 10n ** 23n, supply, 0n, 0n, world.provider, NEVER] as const;
      const data = encodeFunctionData({ abi: routerAbi, functionName: "addLiquidity", args });
      await world.send(world.provider, world.v2.router, data);
    }
    const bought = await v2Quote(usdc(1_000), USDC, taxed);
    const out = await checkedSwap(order(USDC, usdc(1_000), [v2Hop(taxed)]));
    expect(out).toBe(kept(bought));

    await approve(world, world.user, taxed, world.executor);
    const sold = await v2Quote(kept(out / 2n), taxed, USDC);
    expect(await checkedSwap(order(taxed, out / 2n, [v2Hop(USDC)]))).toBe(sold);

    const middle = kept(await v2Quote(usdc(10), USDC, taxed));
    const through = await v2Quote(middle, taxed, EURC);
    expect(await checkedSwap(order(USDC, usdc(10), [v2Hop(taxed), v2Hop(EURC)]))).toBe(through);
  });
});

/** An order along other hops than the sensible one's. */
const along = (...hops: Hop[]) => simple({ hops });

/** An order that would succeed, with some terms replaced. */
const simple = (terms = {}) =>
  order(world.tokens.USDC, usdc(100), [v2Hop(world.tokens.EURC)], terms);

describe("terms", () => {
  test("the deadline's own second is in time, the next is late", async () => {
    const { timestamp } = await world.client.getBlock({ blockTag: "pending" });
    const at = Number(timestamp) + 100;
    await world.rpc("evm_setNextBlockTimestamp", [at]);
    await swap(world, simple({ deadline: BigInt(at) }));
    await world.rpc("evm_setNextBlockTimestamp", [at + 1]);
    await world.rpc("evm_mine");
    expect(await failure(world, simple({ deadline: BigInt(at) }))).toBe("DeadlineExpired");
    expect(await failure(world, simple({ deadline: 0n }))).toBe("DeadlineExpired");
  });

  test("the minimum is exact and can't be zero", async () => {
    const { USDC, EURC } = world.tokens;
    const quoted = await v2Quote(usdc(100), USDC, EURC);
    expect(await failure(world, simple({ minAmountOut: quoted }))).toBe("nothing");
    expect(await failure(world, simple({ minAmountOut: quoted + 1n }))).toBe("InsufficientOutput");
    expect(await failure(world, simple({ minAmountOut: 0n }))).toBe("MinAmountOutZero");
  });

  test("what the first hops sell must add up to the input", async () => {
    const { USDC, EURC } = world.tokens;
    const planned = (...amounts: bigint[]) => {
      const parts = amounts.map((amount): [bigint, Step] => [amount, v2Hop(EURC)]);
      return simple({ hops: sellers(USDC, ...parts) });
    };
    expect(await failure(world, planned(usdc(99)))).toBe("AmountsMismatch");
    expect(await failure(world, planned(usdc(99), usdc(2)))).toBe("AmountsMismatch");
    expect(await failure(world, planned(usdc(99), usdc(1)))).toBe("nothing");
  });

  test("the count of hops is bounded", async () => {
    const { EURC, USDC } = world.tokens;
    const shared = (count: number) => {
      const parts = Array.from({ length: count }, (): [bigint, Step] => [usdc(1), v2Hop(EURC)]);
      return simple({ hops: sellers(USDC, ...parts), amountIn: usdc(count) });
    };
    expect(await failure(world, shared(24))).toBe("nothing");
    expect(await failure(world, shared(25))).toBe("InvalidHopCount");
    expect(await failure(world, simple({ hops: [] }))).toBe("InvalidHopCount");
  });

  test("the first hop must sell the input, and what is bought on the way be sold later", async () => {
    const { USDC, EURC, USDT, WETH } = world.tokens;
    const [toUsdt] = chain(USDC, usdc(100), [v2Hop(USDT)]) as [Hop];
    const [onward] = chain(USDT, 1n, [v3Hop(EURC)]) as [Hop];
    expect(await failure(world, along(toUsdt, onward))).toBe("nothing");
    expect(await failure(world, along(onward, toUsdt))).toBe("WrongInputToken");
    expect(await failure(world, along(toUsdt))).toBe("TokenNotSold");
    const half = { ...toUsdt, amountIn: usdc(50) };
    const direct = sellers(USDC, [usdc(50), v2Hop(EURC)]);
    expect(await failure(world, along(half, ...direct))).toBe("TokenNotSold");
    // Bought after its turn, or the input bought back.
    const [back, again] = chain(WETH, 1n, [v3Hop(USDC, 3_000), v2Hop(EURC)]) as [Hop, Hop];
    const [toWeth] = chain(USDC, usdc(50), [v2Hop(WETH)]) as [Hop];
    const split = sellers(WETH, [1n, v3Hop(USDC, 3_000)], [1n, v2Hop(EURC)]);
    expect(await failure(world, along({ ...toWeth, amountIn: usdc(100) }, ...split, again))).toBe(
      "TokenNotSold",
    );
    expect(await failure(world, along(half, toWeth, onward, back))).toBe("TokenNotSold");
    // A token nothing buys has nothing to sell, whatever strayed into the executor.
    const [stray] = sellers(WETH, [1n, v2Hop(EURC)]) as [Hop];
    expect(await failure(world, along(...chain(USDC, usdc(100), [v2Hop(EURC)]), stray))).not.toBe(
      "nothing",
    );
  });

  test("the output must be bought, and differs from what is sold", async () => {
    const { USDC, USDT, EURC, WETH } = world.tokens;
    expect(await failure(world, simple({ tokenOut: USDT }))).toBe("TokenNotSold");
    const around = order(USDC, usdc(1), [v2Hop(EURC), v2Hop(USDC)]);
    expect(await failure(world, around)).toBe("SameToken");
    const wrap = order(WETH, 1n, [v2Hop(USDC)], { tokenIn: NATIVE, tokenOut: WETH });
    expect(await failure(world, wrap, { value: 1n })).toBe("SameToken");
  });

  test("venues and pools that do not exist are named", async () => {
    const { USDC, EURC } = world.tokens;
    const unknown = order(USDC, usdc(1), [{ venue: 2, fee: 0, tokenOut: EURC }]);
    expect(await failure(world, unknown)).toBe("UnknownVenue");
    expect(await failure(world, order(USDC, usdc(1), [v3Hop(EURC, 123)]))).toBe("PoolNotFound");
  });

  test("an allowance that is too small is a failed transfer", async () => {
    const { USDC, EURC } = world.tokens;
    const args = order(USDC, usdc(1), [v2Hop(EURC)]);
    expect(await failure(world, args, { from: world.provider })).toBe("TransferFailed");
    const v3 = order(USDC, usdc(1), [v3Hop(EURC)]);
    expect(await failure(world, v3, { from: world.provider })).toBe("TransferFailed");
  });

  test("a v3 pool that runs dry reverts instead of filling a part", async () => {
    const { USDC, USDT, EURC } = world.tokens;
    const [token0, token1] = [USDC, USDT].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)) as [
      Hex,
      Hex,
    ];
    const positions = async (functionName: string, args: readonly unknown[]) => {
      const { abi } = readArtifact("v3Positions");
      const data = encodeFunctionData({ abi, functionName, args: [...args] });
      await world.send(world.provider, world.v3.positions, data);
    };
    const fee = 10_000;
    const pool = [token0, token1, fee, 2n ** 96n];
    await positions("createAndInitializePoolIfNecessary", pool);
    const range = { tickLower: -200, tickUpper: 200 };
    const amounts = { amount0Desired: usdc(1_000), amount1Desired: usdc(1_000) };
    const rest = { amount0Min: 0n, amount1Min: 0n, recipient: world.provider, deadline: NEVER };
    await positions("mint", [{ token0, token1, fee, ...range, ...amounts, ...rest }]);

    const sell = (whole: number) => order(USDC, usdc(whole), [v3Hop(USDT, fee)]);
    expect(await failure(world, sell(500))).toBe("nothing");
    expect(await failure(world, sell(2_000))).toBe("PartialFill");
    const longer = order(USDC, usdc(2_000), [v3Hop(USDT, fee), v3Hop(EURC)]);
    expect(await failure(world, longer)).toBe("PartialFill");
  });

  test("an amount beyond int256 can't turn a v3 hop into exact output", async () => {
    const { USDC, EURC } = world.tokens;
    const amount = 2n ** 256n - 1n;
    expect(await failure(world, order(USDC, amount, [v3Hop(EURC)]))).toBe("AmountTooLarge");
    expect(await failure(world, order(USDC, 2n ** 255n, [v3Hop(EURC)]))).toBe("AmountTooLarge");
  });
});
