import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPublicClient, custom, MethodNotFoundRpcError } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { estimateLast } from "../../src/swap/bundle.ts";
import type { BuiltTx, Quote } from "../../src/swap/model.ts";
import { deployOddToken, hostileToken, oddLayouts, type OddToken } from "./oddToken.ts";
import {
  balanceOf,
  send,
  startSwapApi,
  startSwapWorld,
  type SwapWorld,
  wallet,
} from "./support.ts";

const AMOUNT = "5000000";
const stranger = privateKeyToAddress(generatePrivateKey());
const venues = ["venue-a", "venue-b"];

let world: SwapWorld;
let api: Awaited<ReturnType<typeof startSwapApi>>;
let odd: OddToken;
const layouts = new Map<string, OddToken>();

beforeAll(async () => {
  world = await startSwapWorld();
  api = await startSwapApi(world);
  odd = await deployOddToken(world, await hostileToken());
  for (const [name, artifact] of await oddLayouts()) {
    if (name !== "Ledger") layouts.set(name, await deployOddToken(world, artifact));
  }
}, 60_000);
afterAll(async () => {
  await api.stop();
  await world.stop();
});

async function quote(inputToken: string, outputToken: string, change = {}): Promise<Quote> {
  await world.refresh();
  const request = { inputToken, outputToken, inputAmount: AMOUNT, ...change };
  const { status, body } = await api.post("quote", request);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data;
}

async function build(quoted: Quote, userAddress: string = wallet.address) {
  const { status, body } = await api.post("build-tx", { quote: quoted, userAddress });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as BuiltTx;
}

/** Sends what was built; gives what the wallet gained of the output. */
async function settle(quoted: Quote, { approval, swap }: BuiltTx): Promise<bigint> {
  if (approval) expect((await send(world, approval)).status).toBe("success");
  const before = await balanceOf(world, quoted.outputToken);
  expect((await send(world, swap)).status).toBe("success");
  return (await balanceOf(world, quoted.outputToken)) - before;
}

/** Both directions on each venue. */
const cases = venues.flatMap((dexId) => [[dexId, "sold"] as const, [dexId, "bought"] as const]);
function pairOf({ address }: OddToken, side: "sold" | "bought"): [string, string] {
  return side === "sold" ? [address, "USDC"] : ["USDC", address];
}

describe("a token of no registry", () => {
  test.each(cases)("%s: %s by its address, it pays what was quoted", async (dexId, side) => {
    await odd.tell("setTax", 0n);
    const quoted = await quote(...pairOf(odd, side), { dexId });
    const built = await build(quoted);
    expect(await settle(quoted, built)).toBe(BigInt(quoted.outputAmount));
  });

  test.each(cases)(
    "%s: %s while it taxes transfers beyond the slippage, it is refused with the reason",
    async (dexId, side) => {
      await odd.tell("setTax", 100n);
      const quoted = await quote(...pairOf(odd, side), { dexId });
      for (const userAddress of [wallet.address, stranger]) {
        const { status, code, body } = await api.post("build-tx", { quote: quoted, userAddress });
        expect([status, code]).toEqual([400, "SIMULATION_FAILED"]);
        expect(body.data).toBeUndefined();
        expect(body.error).toMatch(
          dexId === "venue-a" && side === "sold"
            ? /IIA, a pool received less than was sent/
            : /InsufficientOutput\(minAmountOut: \d+, amountOut: \d+\): [45]\d\.\d\d bps short/,
        );
        expect(body.error).toContain("tax their transfers");
      }
    },
  );

  test("a tax within the slippage passes, where pools take what arrives", async () => {
    await odd.tell("setTax", 100n);
    for (const [dexId, side] of cases) {
      if (dexId === "venue-a" && side === "sold") continue;
      const quoted = await quote(...pairOf(odd, side), { dexId, slippageTolerance: 150 });
      const built = await build(quoted);
      const received = await settle(quoted, built);
      expect(received).toBeLessThan(BigInt(quoted.outputAmount));
      expect(received).toBeGreaterThanOrEqual(BigInt(quoted.minOut));
    }
  });

  test("one that fails every transfer is refused", async () => {
    await odd.tell("setReturnsFalse", true);
    try {
      const body = { quote: await quote(odd.address, "USDC"), userAddress: stranger };
      const { status, code, body: answer } = await api.post("build-tx", body);
      expect([status, code]).toEqual([400, "SIMULATION_FAILED"]);
      expect(answer.error).toContain("TransferFailed");
    } finally {
      await odd.tell("setReturnsFalse", false);
    }
  });
});

test("built in the block that filled its pools, a swap has the gas it needs in the next one", async () => {
  const { rpc } = world.chain;
  const { timestamp } = await world.client.getBlock();
  // What a block trades, and what is simulated in it, are of one time.
  await rpc.call("anvil_setBlockTimestampInterval", [0]);
  const token = await deployOddToken(world, await hostileToken());
  const built: [Quote, BuiltTx][] = [];
  for (const dexId of venues) {
    const quoted = await quote(token.address, "USDC", { dexId });
    built.push([quoted, await build(quoted)]);
  }
  await rpc.call("anvil_removeBlockTimestampInterval", []);
  expect((await world.client.getBlock()).timestamp).toBe(timestamp);
  await rpc.call("evm_increaseTime", [12]);
  for (const [quoted, tx] of built) {
    expect(await settle(quoted, tx)).toBe(BigInt(quoted.outputAmount));
  }
});

/** Names of the layouts in which single words decide what a wallet has. */
const searched = [
  "VyperToken",
  "SoladyToken",
  "PackedToken",
  "SharesToken",
  "LedgerToken",
  "ProxyToken",
];

describe("a token that keeps its numbers in its own way", () => {
  test.each(searched)(
    "%s: built for a wallet with nothing, it works once that is ready",
    async (name) => {
      const token = layouts.get(name)!;
      const quoted = await quote(token.address, "USDC");
      const early = await build(quoted, stranger);
      expect(early.approval).not.toBeNull();

      // The wallet that has the token signs the same.
      const ready = await build(quoted);
      const ratio = Number(early.swap.gasLimit) / Number(ready.swap.gasLimit);
      expect(ratio).toBeGreaterThan(0.95);
      expect(ratio).toBeLessThan(1.4);
      expect(await settle(quoted, ready)).toBe(BigInt(quoted.outputAmount));
    },
  );

  test("where no word can be changed, a pool lends the amount to the simulation", async () => {
    const token = layouts.get("DoubleEntryToken")!;
    const quoted = await quote(token.address, "USDC", { dexId: "venue-a" });
    const early = await build(quoted, stranger);
    expect(early.approval).not.toBeNull();
    const ready = await build(quoted);
    expect(await settle(quoted, ready)).toBe(BigInt(quoted.outputAmount));
  });

  test("where that is no way either, nothing is returned", async () => {
    const token = layouts.get("DoubleEntryToken")!;
    const quoted = await quote(token.address, "USDC");
    // More than any other pool could lend.
    const inputAmount = (10n ** 13n).toString();
    const body = { ...quoted, inputAmount, outputAmount: "1", minOut: "1", dexId: "venue-b" };
    const { route: _, ...minimal } = body;
    const answer = await api.post("build-tx", { quote: minimal, userAddress: stranger });
    expect([answer.status, answer.code]).toEqual([400, "SIMULATION_UNAVAILABLE"]);
    expect(answer.body.error).toContain(`must first hold ${inputAmount} of ${token.address}`);
    expect(answer.body.data).toBeUndefined();
  });

  test("a swap that would fail is refused all the same", async () => {
    const token = layouts.get("PackedToken")!;
    const quoted = await quote(token.address, "USDC", { dexId: "venue-b" });
    const { route: _, ...minimal } = { ...quoted, minOut: undefined };
    const tooMuch = { ...minimal, outputAmount: (BigInt(quoted.outputAmount) * 2n).toString() };
    const answer = await api.post("build-tx", { quote: tooMuch, userAddress: stranger });
    expect([answer.status, answer.code]).toEqual([400, "QUOTE_EXPIRED"]);
  });

  test.each(["VyperToken", "DoubleEntryToken"])("%s: bought, it needs no storage", async (name) => {
    const token = layouts.get(name)!;
    expect((await build(await quote("USDC", token.address), stranger)).swap.value).toBe("0");
  });

  test("a node that runs no bundles leaves the swap unseen", async () => {
    const client = createPublicClient({
      transport: custom({
        request: async () => {
          throw new MethodNotFoundRpcError(new Error("no such method"));
        },
      }),
    });
    const { address } = wallet;
    const bundle = [{ name: "swap", from: address, to: address, data: "0x" }];
    expect(await estimateLast(client, bundle, [])).toBeUndefined();
  });
});
