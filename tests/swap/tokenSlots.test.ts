import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Address, erc20Abi } from "viem";
import { createSlotFinder, overrideFor } from "../../src/swap/tokenSlots.ts";
import { CHAIN_ID, startSwapWorld, type SwapWorld } from "./support.ts";

const OWNER: Address = "0x1111111111111111111111111111111111111111";
const SPENDER: Address = "0x2222222222222222222222222222222222222222";
/** `balanceOf` gives the native balance / 10^12, all else 0. */
const NATIVE_FACE =
  "0x5f3560e01c6370a08231146015575f5f5260205ff35b6004353164e8d4a5100090045f5260205ff3";
/** Every call gives the storage word at keccak256(3 . first argument), Vyper's order. */
const VYPER_FACE = "0x60035f5260043560205260405f20545f5260205ff3";
/** Every call gives 0. */
const BLIND = "0x5f5f5260205ff3";

let world: SwapWorld;
beforeAll(async () => {
  world = await startSwapWorld();
});
afterAll(() => world.stop());

async function place(code: string, address: Address): Promise<Address> {
  await world.chain.rpc.call("anvil_setCode", [address, code]);
  return address;
}

const find = createSlotFinder();
const slotsOf = (token: Address) => find(world.client, CHAIN_ID, token);

describe("token storage", () => {
  test("is found for every token of the local chain, and makes wallets seem funded", async () => {
    for (const { address: token } of world.chain.deployment.tokens) {
      const pretence = { token, owner: OWNER, spender: SPENDER, balance: 12_345n, allowance: 678n };
      const stateOverride = overrideFor(await slotsOf(token), pretence)!;
      const read = { address: token, abi: erc20Abi, stateOverride } as const;
      const [balance, allowance] = await Promise.all([
        world.client.readContract({ ...read, functionName: "balanceOf", args: [OWNER] }),
        world.client.readContract({ ...read, functionName: "allowance", args: [OWNER, SPENDER] }),
      ]);
      expect([balance, allowance]).toEqual([12_345n, 678n]);
    }
  });

  test("a token that shows the native balance is funded with native", async () => {
    const token = await place(NATIVE_FACE, "0x00000000000000000000000000000000000000b1");
    const slots = await slotsOf(token);
    expect(slots).toEqual({ balance: { kind: "native", scale: 10n ** 12n }, allowance: undefined });
    const wish = { token, owner: OWNER, spender: SPENDER, allowance: undefined };
    expect(overrideFor(slots, { ...wish, balance: 5n })).toEqual([
      { address: OWNER, balance: 5n * 10n ** 12n },
    ]);
    expect(overrideFor(slots, { ...wish, balance: 5n, allowance: 1n })).toBeUndefined();
  });

  test("Vyper's order of key and slot is known too", async () => {
    const token = await place(VYPER_FACE, "0x00000000000000000000000000000000000000b2");
    const { balance } = await slotsOf(token);
    expect(balance).toEqual({ kind: "mapping", base: 3n, keyFirst: false });
  });

  test("a token that keeps its storage elsewhere cannot be pretended with", async () => {
    const token = await place(BLIND, "0x00000000000000000000000000000000000000b3");
    expect(await slotsOf(token)).toEqual({ balance: undefined, allowance: undefined });
  });
});
