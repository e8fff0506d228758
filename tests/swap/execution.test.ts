import { afterAll, beforeAll, expect, test } from "bun:test";
import { decodeFunctionData, encodeFunctionData, erc20Abi, type Hex } from "viem";
import { ApiError } from "../../src/lib/errors.ts";
import { seededRandom } from "../../src/lib/clock.ts";
import type { BuiltTx, Quote } from "../../src/swap/model.ts";
import { NATIVE } from "../../src/swap/native.ts";
import { balanceOf, send, startSwapWorld, type SwapWorld, wallet } from "./support.ts";

const RUNS = 200;
/** The types take turns where a random trade offers them. */
const TYPES = ["single", "multi", "split"] as const;

let world: SwapWorld;
beforeAll(async () => {
  world = await startSwapWorld(
    {},
    { native: { symbol: "ETH", decimals: 18 }, connectors: ["USDC", "USDT", "WETH"] },
  );
});
afterAll(() => world.stop());

/** Random pairs and sizes, from a few cents to what moves prices by percents. */
async function randomQuote(random: () => number): Promise<Quote | undefined> {
  const { tokens, venues } = world.chain.deployment;
  const assets = [...tokens, { symbol: "ETH", decimals: 18, address: NATIVE }];
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  const from = pick(assets);
  const to = pick(assets.filter((token) => token !== from));
  if (from.symbol.endsWith("ETH") && to.symbol.endsWith("ETH")) return undefined;
  const dollars = 10 ** (random() * 7 - 1);
  const units = (dollars / (from.symbol.endsWith("ETH") ? 3_000 : 1)) * 10 ** from.decimals;
  const amountIn = BigInt(Math.floor(units)) + 1n;
  if (amountIn > ((await balanceOf(world, from.address)) * 9n) / 10n) return undefined;
  await world.refresh();
  try {
    return await world.service.quote({
      inputToken: from.symbol,
      outputToken: to.symbol,
      inputAmount: amountIn.toString(),
      ...(random() < 0.4 && { dexId: pick(venues).id }),
    });
  } catch (error) {
    if (error instanceof ApiError && error.code === "NO_ROUTE") return undefined;
    throw error;
  }
}

/** The quote itself, or with one of its options in place of its route. */
function ofType(quote: Quote, type: (typeof TYPES)[number]): Quote {
  if (quote.route.type === type) return quote;
  const option = quote.routeOptions.find((other) => other.type === type);
  if (!option) return quote;
  const { outputAmount, minOut, dexId, gasEstimate, hops } = option;
  return { ...quote, outputAmount, minOut, dexId, gasEstimate, route: { type, hops } };
}

/** Leaves an allowance of some share of the amount, as wallets have them; 0 first, for USDT. */
async function leaveAllowance(quote: Quote, share: number): Promise<void> {
  if (quote.inputToken === NATIVE) return;
  const amount = (BigInt(quote.inputAmount) * BigInt(Math.round(share * 100))) / 100n;
  for (const allowance of [0n, ...(amount > 0n ? [amount] : [])]) {
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "approve",
      args: [world.chain.deployment.executor, allowance],
    });
    await send(world, { to: quote.inputToken, data, gasLimit: "100000" });
  }
}

/** Sends everything in order, each in a block of its own; gives what came of it. */
async function execute(quote: Quote, { resetApproval, approval, swap }: BuiltTx) {
  for (const tx of [resetApproval, approval]) {
    if (tx) expect((await send(world, tx)).status).toBe("success");
  }
  const before = await balanceOf(world, quote.outputToken);
  await world.chain.rpc.call("evm_increaseTime", [12]);
  const { status, gasUsed, effectiveGasPrice } = await send(world, swap);
  expect(status).toBe("success");
  const paid = quote.outputToken === NATIVE ? gasUsed * effectiveGasPrice : 0n;
  return { gasUsed, received: (await balanceOf(world, quote.outputToken)) - before + paid };
}

test(`${RUNS} random quotes of all types and assets, built and sent, pay exactly what was quoted`, async () => {
  const random = seededRandom(2_026);
  const done = { single: 0, multi: 0, split: 0, sold: 0, bought: 0, approved: 0, reset: 0 };
  const gas: Record<string, number[]> = { single: [], multi: [], split: [] };
  for (let run = 0; done.single + done.multi + done.split < RUNS; run += 1) {
    expect(run).toBeLessThan(RUNS * 3);
    const quoted = await randomQuote(random);
    if (!quoted) continue;
    const quote = ofType(quoted, TYPES[run % 3]!);
    const share = [0, 0.5, 1.5][Math.floor(random() * 3)]!;
    await leaveAllowance(quote, share);
    const built = await world.service.buildTx({ quote, userAddress: wallet.address });
    const isNative = quote.inputToken === NATIVE;
    expect(built.swap.value).toBe(isNative ? quote.inputAmount : "0");
    expect(built.approval === null).toBe(isNative || share > 1);
    if (built.approval) {
      const { args } = decodeFunctionData({ abi: erc20Abi, data: built.approval.data as Hex });
      expect(args).toEqual([world.chain.deployment.executor, BigInt(quote.inputAmount)]);
    }
    const isUsdt = quote.inputToken === world.token("USDT");
    expect(built.resetApproval !== undefined).toBe(isUsdt && share === 0.5);

    const { received, gasUsed } = await execute(quote, built);
    expect(received).toBe(BigInt(quote.outputAmount));
    done[quote.route.type] += 1;
    done.sold += Number(isNative);
    done.bought += Number(quote.outputToken === NATIVE);
    done.approved += Number(built.approval !== null);
    done.reset += Number(built.resetApproval !== undefined);
    gas[quote.route.type]!.push(Number(quote.gasEstimate) / Number(gasUsed));
  }
  for (const [type, ratios] of Object.entries(gas)) {
    const sorted = ratios.toSorted((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]!.toFixed(2);
    process.stdout.write(
      `${type}: ${sorted.length}, gas estimate over used ${at(0)} ${at(0.5)} ${at(1)}\n`,
    );
  }
  process.stdout.write(`${JSON.stringify(done)}\n`);
  expect(Math.min(done.single, done.multi, done.split, done.sold, done.bought)).toBeGreaterThan(15);
  expect(Math.min(done.approved, done.reset)).toBeGreaterThan(5);
}, 120_000);
