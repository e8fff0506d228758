import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPublicClient, custom, MethodNotFoundRpcError } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { estimateLast } from "../../src/swap/bundle.ts";
import type { BuiltTx, Quote } from "../../src/swap/model.ts";
import { deployOddToken, type OddToken } from "./oddToken.ts";
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
let hidden: OddToken;

beforeAll(async () => {
  world = await startSwapWorld();
  api = await startSwapApi(world);
  odd = await deployOddToken(world);
  hidden = await deployOddToken(world, true);
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
  const { status, simulated, body } = await api.post("build-tx", { quote: quoted, userAddress });
  expect([status, body.error]).toEqual([200, undefined]);
  return { simulated, ...(body.data as BuiltTx) };
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
    expect(built.simulated).toBe("true");
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

describe("a token that keeps its storage where nobody looks", () => {
  test("is built unsimulated for a wallet without funds, and says so", async () => {
    const quoted = await quote(hidden.address, "USDC");
    const early = await build(quoted, stranger);
    expect(early.simulated).toBe("false");
    expect(early.approval).not.toBeNull();

    const ready = await build(quoted);
    expect(Number(early.swap.gasLimit)).toBeGreaterThan(Number(ready.swap.gasLimit));
  });

  test.each(venues)(
    "%s: is simulated after its approval for a wallet that has it",
    async (dexId) => {
      const quoted = await quote(hidden.address, "USDC", { dexId });
      const built = await build(quoted);
      expect(built.approval).not.toBeNull();
      expect(built.simulated).toBe("true");
      expect(await settle(quoted, built)).toBe(BigInt(quoted.outputAmount));
    },
  );

  test("the gas limit is about the same, simulated after an approval or with it in place", async () => {
    const quoted = await quote(hidden.address, "USDC", { dexId: "venue-b" });
    const bundled = await build(quoted);
    await send(world, bundled.approval!);
    const ready = await build(quoted);
    const ratio = Number(bundled.swap.gasLimit) / Number(ready.swap.gasLimit);
    expect(ratio).toBeGreaterThan(0.95);
    expect(ratio).toBeLessThan(1.4);
    expect(await settle(quoted, ready)).toBe(BigInt(quoted.outputAmount));
  });

  test("a tax is found out all the same, and which transaction would fail is said", async () => {
    await hidden.tell("setTax", 100n);
    try {
      const body = { quote: await quote(hidden.address, "USDC"), userAddress: wallet.address };
      const { status, code, body: answer } = await api.post("build-tx", body);
      expect([status, code]).toEqual([400, "SIMULATION_FAILED"]);
      expect(answer.error).toMatch(/^The swap would fail: .*tax their transfers$/);
    } finally {
      await hidden.tell("setTax", 0n);
    }
  });

  test("a node that runs no bundles leaves the swap unsimulated", async () => {
    const client = createPublicClient({
      transport: custom({
        request: async () => {
          throw new MethodNotFoundRpcError(new Error("no such method"));
        },
      }),
    });
    const bundle = [{ name: "swap", to: wallet.address, data: "0x" }];
    expect(await estimateLast(client, wallet.address, bundle, [])).toBeUndefined();
  });

  test("bought, it needs no storage to be known", async () => {
    expect((await build(await quote("USDC", hidden.address), stranger)).simulated).toBe("true");
  });
});
