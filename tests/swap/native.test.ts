import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Address, decodeFunctionData, type Hex, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { swapExecutorAbi } from "../../src/contracts/index.ts";
import type { BuiltTx, Quote } from "../../src/swap/model.ts";
import { NATIVE } from "../../src/swap/native.ts";
import {
  balanceOf,
  send,
  startSwapApi,
  startSwapWorld,
  type SwapWorld,
  wallet,
} from "./support.ts";

const ether = { symbol: "ETH", decimals: 18 };
const venues = ["venue-a", "venue-b", "native-dex"];

let world: SwapWorld;
let api: Awaited<ReturnType<typeof startSwapApi>>;

beforeAll(async () => {
  world = await startSwapWorld({}, { native: ether, connectors: ["USDC", "USDT", "WETH"] });
  api = await startSwapApi(world);
});
afterAll(async () => {
  await api.stop();
  await world.stop();
});

async function quote(inputToken: string, outputToken: string, inputAmount: bigint, change = {}) {
  await world.refresh();
  const request = { inputToken, outputToken, inputAmount: inputAmount.toString(), ...change };
  const { status, body } = await api.post("quote", request);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as Quote;
}

async function build(quoted: object, userAddress: string = wallet.address) {
  const { status, body } = await api.post("build-tx", { quote: quoted, userAddress });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as BuiltTx;
}

/** Sends what was built; gives what it used and what the wallet gained of the output. */
async function trade(quoted: Quote) {
  const { approval, swap } = await build(quoted);
  if (approval) expect((await send(world, approval)).status).toBe("success");
  const before = await balanceOf(world, quoted.outputToken);
  await world.chain.rpc.call("evm_increaseTime", [12]);
  const { status, gasUsed, effectiveGasPrice } = await send(world, swap);
  expect(status).toBe("success");
  const spent = quoted.outputToken === NATIVE ? gasUsed * effectiveGasPrice : 0n;
  const received = (await balanceOf(world, quoted.outputToken)) - before + spent;
  const { executor } = world.chain.deployment;
  for (const token of [NATIVE, quoted.inputToken, quoted.outputToken, world.token("WETH")]) {
    expect(await balanceOf(world, token, executor)).toBe(0n);
  }
  return { received, swap, approval, gasUsed };
}

function orderOf(data: string) {
  const call = decodeFunctionData({ abi: swapExecutorAbi, data: data as Hex });
  if (call.functionName !== "swap") throw new Error(`${call.functionName} is not swap`);
  return call.args[0];
}

describe("the native asset, where it has a wrapped token", () => {
  test.each(venues)("%s: sold, it needs no approval and travels as value", async (dexId) => {
    for (const [name, to] of [
      ["ETH", "USDC"],
      ["eth", "USDT"],
      [NATIVE.toLowerCase(), "EURC"],
    ] as const) {
      const quoted = await quote(name, to, parseEther("1.5"), { dexId });
      expect([quoted.inputToken, quoted.outputToken]).toEqual([NATIVE, world.token(to)]);
      expect(quoted.route.hops[0]!.tokenIn).toBe(world.token("WETH"));
      const { received, swap, approval } = await trade(quoted);
      expect(approval).toBeNull();
      expect(swap.value).toBe(quoted.inputAmount);
      expect(orderOf(swap.data).tokenIn).toBe(NATIVE);
      expect(received).toBe(BigInt(quoted.outputAmount));
    }
  });

  test.each(venues)("%s: bought, it arrives unwrapped", async (dexId) => {
    for (const [from, units] of [
      ["USDC", 2_500_000_000n],
      ["USDT", 700_000_000n],
    ] as const) {
      const quoted = await quote(from, "ETH", units, { dexId });
      expect(quoted.outputToken).toBe(NATIVE);
      const { received, swap } = await trade(quoted);
      expect([swap.value, orderOf(swap.data).tokenOut]).toEqual(["0", NATIVE]);
      expect(received).toBe(BigInt(quoted.outputAmount));
    }
  });

  test("gasEstimate is within 10 % of the gas used, both ways, on every venue", async () => {
    for (const [from, to, amount] of [
      ["ETH", "USDC", parseEther("0.3")],
      ["USDC", "ETH", 900_000_000n],
    ] as const) {
      for (const dexId of venues) {
        // What pools write only once, with their first swaps, is over after the first round.
        for (const isMeasured of [false, true]) {
          const quoted = await quote(from, to, amount, { dexId });
          const { gasUsed } = await trade(quoted);
          if (!isMeasured) continue;
          const ratio = Number(quoted.gasEstimate) / Number(gasUsed);
          expect(ratio).toBeGreaterThan(0.9);
          expect(ratio).toBeLessThan(1.1);
        }
      }
    }
  });

  test("a wallet that holds nothing gets its transaction, simulated as if it did", async () => {
    const stranger = privateKeyToAddress(generatePrivateKey());
    const sold = await build(await quote("ETH", "USDC", parseEther("2")), stranger);
    expect(sold.approval).toBeNull();
    expect(sold.swap.value).toBe(parseEther("2").toString());
    const bought = await build(await quote("USDC", "ETH", 5_000_000n), stranger);
    expect(bought.approval).not.toBeNull();
  });

  test("the smallest quote may name it too", async () => {
    const { inputToken, outputToken, inputAmount, outputAmount, dexId } = await quote(
      "ETH",
      "USDC",
      parseEther("1"),
    );
    const { swap } = await build({ inputToken, outputToken, inputAmount, outputAmount, dexId });
    expect(swap.value).toBe(inputAmount);
  });

  test("wrapping and unwrapping is no swap", async () => {
    for (const [inputToken, outputToken] of [
      ["ETH", "WETH"],
      [world.token("WETH"), NATIVE],
      ["ETH", NATIVE],
    ]) {
      const inputAmount = "1000000";
      const asked = await api.post("quote", { inputToken, outputToken, inputAmount });
      expect([asked.status, asked.code]).toEqual([400, "INVALID_FIELD"]);
      const bare = { inputToken, outputToken, inputAmount, outputAmount: "1", dexId: "venue-a" };
      const body = { quote: bare, userAddress: wallet.address };
      const built = await api.post("build-tx", body);
      expect([built.status, built.code]).toEqual([400, "INVALID_FIELD"]);
      expect(built.body.error).toContain("quote.outputToken");
    }
  });

  test("a quote for the native asset builds for nothing else, nor the other way round", async () => {
    const native = await quote("USDC", "ETH", 1_000_000n);
    const { swap } = await build({ ...native, outputToken: world.token("WETH") });
    expect(orderOf(swap.data).tokenOut).toBe(world.token("WETH"));
    const tampered = { ...native, inputToken: NATIVE, outputToken: native.inputToken };
    const body = { quote: tampered, userAddress: wallet.address };
    const refused = await api.post("build-tx", body);
    expect([refused.status, refused.code]).toEqual([400, "INVALID_QUOTE"]);
  });

  test("a wallet contract that takes no native value is told so", async () => {
    const user: Address = "0x00000000000000000000000000000000000000c1";
    await world.chain.rpc.call("anvil_setCode", [user, "0x5f5ffd"]);
    const body = { quote: await quote("USDC", "ETH", 1_000_000n), userAddress: user };
    const refused = await api.post("build-tx", body);
    expect([refused.status, refused.code]).toEqual([400, "SIMULATION_FAILED"]);
    expect(refused.body.error).toContain("NativeTransferFailed");
  });
});

describe("the native asset, where it has no wrapped token", () => {
  test("is refused, with the token to use instead", async () => {
    const arc = await startSwapWorld({}, { wrappedNative: undefined } as object);
    try {
      const request = { inputToken: NATIVE, outputToken: "EURC", inputAmount: "1000000" };
      const refusal = { code: "UNKNOWN_TOKEN", status: 400 };
      await expect(arc.service.quote(request)).rejects.toMatchObject(refusal);
      const bare = { ...request, outputAmount: "1", dexId: "venue-a" };
      const built = arc.service.buildTx({ quote: bare, userAddress: wallet.address });
      await expect(built).rejects.toMatchObject(refusal);
      await expect(built).rejects.toThrow(`use USDC at ${arc.token("USDC")}`);
      // The symbol is that of the ERC-20 token, as ever.
      const named = await arc.service.quote({ ...request, inputToken: "USDC" });
      expect(named.inputToken).toBe(arc.token("USDC"));
    } finally {
      await arc.stop();
    }
  });
});
