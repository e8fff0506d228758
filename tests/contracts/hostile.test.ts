import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { encodeFunctionData, type Hex, parseAbi, toFunctionSelector } from "viem";
import { swapExecutorAbi } from "../../src/contracts/index.ts";
import { readArtifact } from "../../src/sandbox/deploy/artifacts.ts";
import { ask, compileHostile, hostileAbi, type HostileContracts, tell } from "./support/hostile.ts";
import {
  approve,
  balances,
  deployExecutorWith,
  erc20,
  failure,
  NATIVE,
  NEVER,
  order,
  startWorld,
  swap,
  swapData,
  v2Hop,
  v3Hop,
  type World,
} from "./support/world.ts";

const REENTERED = toFunctionSelector("Reentered()");
const CALLBACK_FORBIDDEN = toFunctionSelector("CallbackForbidden(address)");
const POOL_FEE = 3_000;
const unit = 10n ** 18n;
const usdc = (whole: number) => BigInt(whole) * 10n ** 6n;

let world: World;
let contracts: HostileContracts;
let token: Hex;

beforeAll(async () => {
  [world, contracts] = await Promise.all([startWorld(), compileHostile()]);
  token = await world.deploy(contracts.HostileToken);
  await tell(world, token, "mint", world.provider, 10n ** 30n);
  await tell(world, token, "mint", world.user, 10n ** 24n);
  await approve(world, world.user, token, world.executor);
  await addV2Liquidity();
  await addV3Liquidity();
}, 60_000);
afterAll(() => world.stop());
afterEach(() => tell(world, token, "reset"));

async function addV2Liquidity(): Promise<void> {
  await approve(world, world.provider, token, world.v2.router);
  const data = encodeFunctionData({
    abi: parseAbi([
      "function addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
    ]),
    functionName: "addLiquidity",
    args: [token, world.tokens.USDC, 10n ** 24n, usdc(1_000_000), 0n, 0n, world.provider, NEVER],
  });
  await world.send(world.provider, world.v2.router, data);
}

async function addV3Liquidity(): Promise<void> {
  await approve(world, world.provider, token, world.v3.positions);
  const { EURC } = world.tokens;
  const [token0, token1] = BigInt(token) < BigInt(EURC) ? [token, EURC] : [EURC, token];
  const send = async (functionName: string, ...args: unknown[]) => {
    const { abi } = readArtifact("v3Positions");
    const data = encodeFunctionData({ abi, functionName, args });
    await world.send(world.provider, world.v3.positions, data);
  };
  const pool = { token0, token1, fee: POOL_FEE };
  await send("createAndInitializePoolIfNecessary", token0, token1, POOL_FEE, 2n ** 96n);
  await send("mint", {
    ...pool,
    tickLower: -887_220,
    tickUpper: 887_220,
    amount0Desired: 10n ** 24n,
    amount1Desired: 10n ** 24n,
    amount0Min: 0n,
    amount1Min: 0n,
    recipient: world.provider,
    deadline: NEVER,
  });
}

function callbackData(amount: bigint, data: Hex = "0x"): Hex {
  return encodeFunctionData({
    abi: swapExecutorAbi,
    functionName: "uniswapV3SwapCallback",
    args: [amount, amount, data],
  });
}

describe("re-entry", () => {
  test("a sold token can't enter a second swap from its transfer", async () => {
    const inner = order(world.tokens.USDC, 1n, [v2Hop(world.tokens.EURC)]);
    await tell(world, token, "arm", world.executor, world.user, swapData(inner));
    await swap(world, order(token, unit, [v2Hop(world.tokens.USDC)]));
    expect(await ask(world, token, "hookRan")).toBe(true);
    expect(await ask<Hex>(world, token, "hookError")).toBe(REENTERED);
  });

  test("a bought token can't either, nor can it pose as the pool that is expected", async () => {
    const { EURC } = world.tokens;
    for (const [data, error] of [
      [swapData(order(EURC, 1n, [v2Hop(world.tokens.USDC)])), REENTERED],
      // At this moment the real pool is expected to call: the token gets there first.
      [callbackData(unit), CALLBACK_FORBIDDEN],
    ] as const) {
      await tell(world, token, "arm", world.executor, world.user, data);
      await swap(world, order(EURC, unit, [{ ...v3Hop(token), fee: POOL_FEE }]));
      expect(await ask(world, token, "hookRan")).toBe(true);
      expect(await ask<Hex>(world, token, "hookError")).toBe(error);
    }
  });

  test("a wallet can't from the native value it is paid", async () => {
    const { USDC, WETH } = world.tokens;
    const wallet = await world.deploy(contracts.HostileWallet);
    await world.send(world.user, USDC, erc20Data("transfer", wallet, usdc(100)));
    const approval = { target: USDC, data: erc20Data("approve", world.executor, usdc(100)) };
    await world.send(world.user, wallet, runAll([approval]));

    const args = order(USDC, usdc(50), [v2Hop(WETH)], { tokenOut: NATIVE });
    expect(await failure(world, args, { from: wallet })).toBe("NativeTransferFailed");
    await tell(world, wallet, "prepare", world.executor, swapData(args));
    expect(await failure(world, args, { from: wallet })).toBe("NativeTransferFailed");
    // The same wallet is paid when it only takes the money.
    await tell(world, wallet, "prepare", world.user, "0x");
    expect(await failure(world, args, { from: wallet })).toBe("nothing");
  });

  test("swaps may follow each other in one transaction", async () => {
    const { USDC, EURC } = world.tokens;
    const batch = await world.deploy(contracts.HostileWallet);
    await tell(world, token, "mint", batch, unit);
    const half = swapData(order(token, unit / 2n, [v2Hop(USDC), v3Hop(EURC)]));
    const calls = [
      { target: token, data: erc20Data("approve", world.executor, unit) },
      { target: world.executor, data: half },
      { target: world.executor, data: half },
    ];
    await world.send(world.user, batch, runAll(calls));
    expect(await world.balance(token, batch)).toBe(0n);
    expect(await world.balance(EURC, batch)).toBeGreaterThan(0n);
  });
});

function runAll(calls: { target: Hex; data: Hex }[]): Hex {
  return encodeFunctionData({ abi: hostileAbi, functionName: "runAll", args: [calls] });
}

function erc20Data(functionName: "approve" | "transfer", account: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20, functionName, args: [account, amount] });
}

describe("forged callbacks", () => {
  test("outside a swap nobody may call, whatever the data says", async () => {
    const pool = await realPool();
    const data = callbackData(usdc(1), `0x${world.bystander.slice(2).padStart(64, "0")}`);
    for (const caller of [world.user, world.bystander, world.executor, token, pool]) {
      await world.rpc("anvil_impersonateAccount", [caller]);
      await world.rpc("anvil_setBalance", [caller, "0xde0b6b3a7640000"]);
      const call = world.client.call({ account: caller, to: world.executor, data });
      await expect(call).rejects.toThrow(CALLBACK_FORBIDDEN);
    }
  });

  test("a pool that is no venue's can't be named", async () => {
    const venue = await hostileVenue();
    const args = order(token, unit, [{ venue: 0, fee: venue.fee, tokenOut: world.tokens.USDC }]);
    expect(await failure(world, args)).toBe("PoolNotFound");
  });
});

async function realPool(): Promise<Hex> {
  return world.client.readContract({
    address: world.v3.factory,
    abi: parseAbi(["function getPool(address,address,uint24) view returns (address)"]),
    functionName: "getPool",
    args: [world.tokens.USDC, world.tokens.EURC, 500],
  });
}

/** A v3-like factory with one pool of the hostile token and USDC, full of both. */
async function hostileVenue(): Promise<{ factory: Hex; pool: Hex; hash: Hex; fee: number }> {
  const fee = 42;
  const factory = await world.deploy(contracts.HostileVenue);
  await tell(world, factory, "create", token, world.tokens.USDC, fee);
  const pool = await ask<Hex>(world, factory, "lastPool");
  await tell(world, token, "mint", pool, 10n ** 24n);
  const money = erc20Data("transfer", pool, usdc(1_000_000));
  await world.send(world.provider, world.tokens.USDC, money);
  return { factory, pool, hash: await ask<Hex>(world, factory, "initCodeHash"), fee };
}

describe("a venue whose pools turned hostile takes no more than the order's amount", () => {
  test.each([
    ["is honest", "nothing"],
    ["asks for twice as much", "CallbackOverdraw"],
    ["calls back twice", "CallbackForbidden"],
    ["never calls back", "CallbackMissing"],
    ["asks for less", "PartialFill"],
    ["asks for nothing", "PartialFill"],
    ["sends an accomplice to collect", "CallbackForbidden"],
    ["pays nothing", "InsufficientOutput"],
  ])("pool %s: %s", async (behaviour, error) => {
    const { factory, pool, hash, fee } = await hostileVenue();
    const venue = { factory, initCodeHash: hash, kind: 3 as const, feeBps: 0 };
    const executor = await deployExecutorWith(world, { venues: [venue] });
    await approve(world, world.user, world.tokens.USDC, executor);
    await tell(world, pool, "setMode", modes.indexOf(behaviour));
    const args = order(world.tokens.USDC, usdc(5), [{ venue: 0, fee, tokenOut: token }]);
    expect(await failure(world, args, { executor })).toBe(error);
  });

  const modes = [
    "is honest",
    "asks for twice as much",
    "calls back twice",
    "never calls back",
    "asks for less",
    "asks for nothing",
    "sends an accomplice to collect",
    "pays nothing",
  ];
});

describe("hostile tokens", () => {
  test("a transfer that answers false fails", async () => {
    await tell(world, token, "setReturnsFalse", true);
    const args = order(token, unit, [v2Hop(world.tokens.USDC)]);
    expect(await failure(world, args)).toBe("TransferFailed");
  });

  test("a taxed token can't enter a v3 pool, which checks what it was paid", async () => {
    await tell(world, token, "setTax", 100);
    const args = order(token, unit, [v3Hop(world.tokens.EURC, POOL_FEE)]);
    expect(await failure(world, args)).toBe("Error(IIA)");
  });

  test("the minimum counts what arrived after the tax", async () => {
    const args = order(world.tokens.USDC, usdc(100), [v2Hop(token)]);
    const { event } = await swap(world, args);
    await tell(world, token, "setTax", 500);
    const again = { ...args, minAmountOut: (event.amountOut * 97n) / 100n };
    expect(await failure(world, again)).toBe("InsufficientOutput");
  });

  test("a token that takes more from the executor than it sends can't eat stray balances", async () => {
    await tell(world, token, "mint", world.executor, unit);
    const args = order(world.tokens.USDC, usdc(100), [v2Hop(token)], { feeBps: 10 });
    expect(await failure(world, args)).toBe("nothing");
    const surcharge = { functionName: "setSurcharge", args: [1n] } as const;
    const data = encodeFunctionData({ abi: hostileAbi, ...surcharge });
    await tell(world, token, "arm", token, world.executor, data);
    expect(await failure(world, args)).toBe("LeftoverBalance");
  });

  test.each([
    ["the last", []],
    ["another", ["WETH" as const]],
  ])("nor on its way through the executor to %s pool", async (_, onward) => {
    const { USDC, EURC } = world.tokens;
    await tell(world, token, "mint", world.executor, unit);
    const rest = onward.map((symbol) => v2Hop(world.tokens[symbol]));
    const args = order(USDC, usdc(100), [v2Hop(token), v3Hop(EURC, POOL_FEE), ...rest]);
    expect(await failure(world, args)).toBe("nothing");
    const surcharge = { functionName: "setSurcharge", args: [1n] } as const;
    const data = encodeFunctionData({ abi: hostileAbi, ...surcharge });
    await tell(world, token, "arm", token, world.executor, data);
    expect(await failure(world, args)).toBe("LeftoverBalance");
  });

  test("a blocked fee recipient forgoes the fee and stops nothing", async () => {
    await tell(world, token, "setBlocked", world.feeRecipient);
    const args = order(world.tokens.USDC, usdc(100), [v2Hop(token)], { feeBps: 10 });
    const held = await world.balance(token, world.executor);
    const { event } = await swap(world, args);
    expect(event.fee).toBe(0n);
    expect(await world.balance(token, world.executor)).toBe(held);
  });
});

test("an unlimited allowance of somebody else is worth nothing to a caller", async () => {
  const { USDC, EURC, WETH } = world.tokens;
  const before = await balances(world, world.bystander, world.executor);
  const calls = [USDC, EURC, WETH].flatMap((address) => [
    swapData(order(address, unit, [v2Hop(address === USDC ? EURC : USDC)])),
    swapData(order(world.bystander, unit, [v2Hop(address)])),
    swapData(order(address, unit, [v2Hop(world.bystander)])),
    callbackData(unit, world.bystander),
    encodeFunctionData({
      abi: parseAbi(["function transferFrom(address,address,uint256)"]),
      functionName: "transferFrom",
      args: [world.bystander, world.user, unit],
    }),
  ]);
  // The provider has money and has approved nothing.
  for (const data of calls) {
    const receipt = await world.send(world.provider, world.executor, data, 0n, true);
    expect(receipt.status).toBe("0x0");
  }
  expect(await balances(world, world.bystander, world.executor)).toEqual(before);
});
