import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  maxUint256,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { swapExecutorAbi } from "../../src/contracts/index.ts";
import { BuiltTxSchema, type Quote } from "../../src/swap/model.ts";
import { accounts } from "../support/sandbox.ts";
import { CHAIN_ID, send, startSwapApi, startSwapWorld, type SwapWorld, wallet } from "./support.ts";

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

async function quote(change: object = {}): Promise<Quote> {
  const request = { inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000000" };
  await world.refresh();
  return (await api.post("quote", { ...request, ...change })).body.data;
}

async function build(quoted: object, userAddress: string = wallet.address) {
  const { status, body } = await api.post("build-tx", { quote: quoted, userAddress });
  expect([status, body.error]).toEqual([200, undefined]);
  expect([...Value.Errors(BuiltTxSchema, body.data)]).toEqual([]);
  return body.data;
}

/** Whole tokens in atomic units, as a request writes them. */
function atomic(symbol: string, whole: bigint): string {
  const { decimals } = world.chain.deployment.tokens.find((token) => token.symbol === symbol)!;
  return (whole * 10n ** BigInt(decimals)).toString();
}

/** The executor's order in a transaction's calldata. */
function orderOf(data: Hex) {
  const call = decodeFunctionData({ abi: swapExecutorAbi, data });
  if (call.functionName !== "swap") throw new Error(`${call.functionName} is not swap`);
  return call.args[0];
}

function balanceOf(token: string, owner: Address = wallet.address) {
  return world.client.readContract({
    address: token as Address,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner],
  });
}

function setAllowance(token: string, amount: bigint, account = wallet) {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [world.chain.deployment.executor, amount],
  });
  return send(world, { to: token, data, gasLimit: "100000" }, account);
}

describe("200 POST /swap/build-tx", () => {
  const pairs = [
    ["USDC", "EURC"],
    ["EURC", "USDC"],
    ["USDT", "USDC"],
    ["WETH", "USDT"],
  ] as const;
  const venues = ["venue-a", "venue-b", "native-dex"];
  const cases = venues.flatMap((dexId) => pairs.map(([from, to]) => [dexId, from, to] as const));

  test.each(cases)(
    "%s %s→%s: signed and sent, it pays what was quoted",
    async (dexId, from, to) => {
      const { decimals } = world.chain.deployment.tokens.find(({ symbol }) => symbol === from)!;
      const inputAmount = (3n * 10n ** BigInt(decimals)).toString();
      const quoted = await quote({ inputToken: from, outputToken: to, inputAmount, dexId });
      const built = await build(quoted);
      if (built.approval) expect((await send(world, built.approval)).status).toBe("success");

      const before = await balanceOf(quoted.outputToken);
      expect((await send(world, built.swap)).status).toBe("success");
      const received = (await balanceOf(quoted.outputToken)) - before;
      expect(received).toBe(BigInt(quoted.outputAmount));
      expect(await balanceOf(quoted.inputToken, world.chain.deployment.executor)).toBe(0n);
    },
  );

  test("gasEstimate is within 25 % of the gas used", async () => {
    await setAllowance(world.token("USDC"), maxUint256);
    for (const inputAmount of ["1000000", "100000000000", "1000000000000"]) {
      for (const dexId of venues) {
        // What pools write only once, with their first swaps, is over after the first round.
        for (const isMeasured of [false, true]) {
          const quoted = await quote({ inputAmount, dexId });
          const { swap } = await build(quoted);
          // Within one second pairs leave out writing their price accumulators.
          await world.chain.rpc.call("evm_increaseTime", [12]);
          const { gasUsed, status } = await send(world, swap);
          expect(status).toBe("success");
          if (!isMeasured) continue;
          const ratio = Number(quoted.gasEstimate) / Number(gasUsed);
          expect(ratio).toBeGreaterThan(0.75);
          expect(ratio).toBeLessThan(1.25);
        }
      }
    }
    await setAllowance(world.token("USDC"), 0n);
  });

  test("approval is for the exact amount, and null once it suffices", async () => {
    await setAllowance(world.token("USDC"), 0n);
    const quoted = await quote();
    const { approval, swap } = await build(quoted);
    const call = decodeFunctionData({ abi: erc20Abi, data: approval.data });
    expect(call.args).toEqual([world.chain.deployment.executor, 1_000_000_000n]);
    expect([approval.to, approval.from]).toEqual([quoted.inputToken, wallet.address]);
    expect([swap.to, swap.from, swap.value, swap.chainId]).toEqual([
      world.chain.deployment.executor,
      wallet.address,
      "0",
      CHAIN_ID,
    ]);
    await send(world, approval);
    const ready = await build(quoted);
    expect(ready.approval).toBeNull();
    expect(ready).not.toHaveProperty("resetApproval");
  });

  test("a standing allowance is raised directly where the token lets it", async () => {
    await setAllowance(world.token("USDC"), 5n);
    const built = await build(await quote());
    expect(built.approval).not.toBeNull();
    expect(built).not.toHaveProperty("resetApproval");
  });

  test("a token that refuses to change an allowance gets a reset first", async () => {
    const account = accounts.wallets[1]!;
    const order = { inputToken: "USDT", outputToken: "USDC", inputAmount: "7000000" };
    await setAllowance(world.token("USDT"), 5n, account);
    const quoted = await quote(order);
    const { resetApproval, approval, swap } = await build(quoted, account.address);
    const reset = decodeFunctionData({ abi: erc20Abi, data: resetApproval.data });
    expect(reset.args).toEqual([world.chain.deployment.executor, 0n]);
    for (const tx of [resetApproval, approval, swap]) {
      expect((await send(world, tx, account)).status).toBe("success");
    }
  });

  test("a wallet that holds nothing gets its transactions, simulated as if it did", async () => {
    const stranger = privateKeyToAddress(generatePrivateKey());
    for (const [inputToken, outputToken] of pairs) {
      const inputAmount = atomic(inputToken, 3n);
      const quoted = await quote({ inputToken, outputToken, inputAmount });
      const { approval, swap } = await build(quoted, stranger.toLowerCase());
      expect([approval.from, swap.from]).toEqual([stranger, stranger]);
      const ratio = Number(swap.gasLimit) / Number(quoted.gasEstimate);
      expect(ratio).toBeGreaterThan(1.1);
      expect(ratio).toBeLessThan(1.8);
    }
  });

  test("the smallest quote is routed again, with the default slippage from its output", async () => {
    const quoted = await quote({ dexId: "venue-b" });
    const minimal = {
      inputToken: "usdc",
      outputToken: quoted.outputToken.toLowerCase(),
      inputAmount: quoted.inputAmount,
      outputAmount: quoted.outputAmount,
      dexId: "venue-b",
    };
    const { swap } = await build(minimal);
    const order = orderOf(swap.data);
    expect(order).toMatchObject({
      amountIn: 1_000_000_000n,
      minAmountOut: (BigInt(quoted.outputAmount) * 9_950n) / 10_000n,
      feeBps: 0,
    });
    const first = order.hops.filter(({ tokenIn }) => tokenIn === order.tokenIn);
    expect(first.reduce((sum, { amountIn }) => sum + amountIn, 0n)).toBe(1_000_000_000n);
    for (const { venue, fee } of order.hops) {
      expect([venue, fee]).toEqual([1, 0]);
    }
  });

  test("a minimal quote that expects too little is protected by the present output", async () => {
    const quoted = await quote({ dexId: "venue-b" });
    const { inputToken, outputToken, inputAmount, dexId } = quoted;
    const { swap } = await build({
      inputToken,
      outputToken,
      inputAmount,
      outputAmount: "1",
      dexId,
    });
    const order = orderOf(swap.data);
    const minAmountOut = (BigInt(quoted.outputAmount) * 9_950n) / 10_000n;
    expect(order).toMatchObject({ minAmountOut });
  });

  test("hops without a pool, as the contract shows them, are routed again", async () => {
    const quoted = await quote({ dexId: "venue-a" });
    const hops = quoted.route.hops.map(({ dexId, amountIn, amountOut, priceImpact }) => ({
      dexId,
      amountIn,
      amountOut,
      priceImpact,
    }));
    const full = await build(quoted);
    const bare = await build({ ...quoted, route: { ...quoted.route, hops } });
    expect(bare.swap.to).toBe(full.swap.to);
  });

  test("the deadline lies deadlineSeconds ahead of the chain and of the clock", async () => {
    const { swap } = await build(await quote());
    const order = orderOf(swap.data);
    const { timestamp } = await world.client.getBlock();
    const ahead = Number(order.deadline - timestamp);
    expect(ahead).toBeGreaterThanOrEqual(world.config.swap.deadlineSeconds);
    expect(ahead).toBeLessThan(world.config.swap.deadlineSeconds + 60);
  });
});

describe("the platform fee", () => {
  test("is taken from the output, and the wallet receives outputAmount", async () => {
    const paid = await startSwapWorld({ platformFeeBps: 25 });
    try {
      const quoted = await paid.service.quote({
        inputToken: "USDC",
        outputToken: "EURC",
        inputAmount: "1000000",
        dexId: "venue-b",
      });
      const gross = BigInt(quoted.outputAmount) + BigInt(quoted.platformFeeAmount);
      expect(BigInt(quoted.platformFeeAmount)).toBe((gross * 25n) / 10_000n);
      const last = quoted.route.hops.filter(({ tokenOut }) => tokenOut === quoted.outputToken);
      expect(last.reduce((sum, { amountOut }) => sum + BigInt(amountOut), 0n)).toBe(gross);
      expect(quoted.feeBps).toBe(54.925);

      const built = await paid.service.buildTx({ quote: quoted, userAddress: wallet.address });
      await send(paid, built.approval!);
      const read = (owner: Address) =>
        paid.client.readContract({
          address: paid.token("EURC"),
          abi: erc20Abi,
          functionName: "balanceOf",
          args: [owner],
        });
      const { address: recipient } = accounts.feeRecipient;
      const before = [await read(wallet.address), await read(recipient)] as const;
      expect((await send(paid, built.swap)).status).toBe("success");
      expect((await read(wallet.address)) - before[0]).toBe(BigInt(quoted.outputAmount));
      expect((await read(recipient)) - before[1]).toBe(BigInt(quoted.platformFeeAmount));
    } finally {
      await paid.stop();
    }
  });
});
