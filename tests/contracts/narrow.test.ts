import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  concatHex,
  encodeFunctionData,
  type Hex,
  hexToBytes,
  keccak256,
  numberToHex,
  padHex,
  size,
  slice,
  stringToHex,
} from "viem";
import artifact from "../../src/contracts/artifacts/SwapExecutor.json" with { type: "json" };
import { swapExecutorAbi } from "../../src/contracts/index.ts";
import { seededRandom } from "../../src/lib/clock.ts";
import {
  balances,
  erc20,
  type Hop,
  NATIVE,
  NEVER,
  type Order,
  type Receipt,
  startWorld,
  swapData,
  V2,
  V3,
  type World,
} from "./support/world.ts";

describe("the code itself", () => {
  test("has no instruction that stores, delegates, creates or destroys", () => {
    const forbidden = new Map([
      [0x54, "SLOAD"],
      [0x55, "SSTORE"],
      [0xf0, "CREATE"],
      [0xf2, "CALLCODE"],
      [0xf4, "DELEGATECALL"],
      [0xf5, "CREATE2"],
      [0xff, "SELFDESTRUCT"],
    ]);
    const found = opcodes(artifact.deployedBytecode as Hex).filter((code) => forbidden.has(code));
    expect(found.map((code) => forbidden.get(code))).toEqual([]);
  });

  test("has these functions and no more", () => {
    const functions = artifact.abi.filter(({ type }) => type === "function");
    const changing = functions.filter(({ stateMutability }) =>
      ["payable", "nonpayable"].includes(stateMutability ?? ""),
    );
    expect(changing.map(({ name }) => name ?? "").sort()).toEqual([
      "swap",
      "uniswapV3SwapCallback",
    ]);
    expect(artifact.abi.some(({ type }) => type === "fallback")).toBe(false);
  });
});

/** Instructions of the code, without the data that PUSH carries. */
function opcodes(code: Hex): number[] {
  const bytes = hexToBytes(code);
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const opcode = bytes[at] ?? 0;
    found.push(opcode);
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f;
  }
  return found;
}

const RANDOM_CALLS = 20_000;
const CALLS_AT_ONCE = 250;

const eventHash = (signature: string) => keccak256(stringToHex(signature));
const TRANSFER = eventHash("Transfer(address,address,uint256)");
const APPROVAL = eventHash("Approval(address,address,uint256)");
const DEPOSIT = eventHash("Deposit(address,uint256)");
const WITHDRAWAL = eventHash("Withdrawal(address,uint256)");
const topicOf = (address: Hex) => padHex(address, { size: 32 }).toLowerCase() as Hex;

describe("random calls", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    const { USDC, WETH } = world.tokens;
    for (const token of [USDC, WETH]) {
      const args = [world.executor, 1_000_000n] as const;
      const data = encodeFunctionData({ abi: erc20, functionName: "transfer", args });
      await world.send(world.user, token, data);
    }
    await world.rpc("anvil_setBalance", [world.executor, "0xffff"]);
  }, 60_000);
  afterAll(() => world.stop());

  test("never move a bystander's approved money or what strayed into the executor", async () => {
    const random = seededRandom(20_261_120);
    const before = await balances(world, world.bystander, world.executor);
    const outcomes = { success: 0, revert: 0 };
    for (let sent = 0; sent < RANDOM_CALLS; sent += CALLS_AT_ONCE) {
      const calls = Array.from({ length: CALLS_AT_ONCE }, () => {
        const candidate = randomOrder(random);
        const data = random() < 0.7 ? swapData(candidate) : mutate(random, swapData(candidate));
        const value = candidate.tokenIn === NATIVE ? candidate.amountIn % 10n ** 20n : 0n;
        return { data, value };
      });
      for (const receipt of await world.sendAll(world.user, world.executor, calls)) {
        outcomes[receipt.status === "0x1" ? "success" : "revert"]++;
        expect(movements(receipt)).toEqual([]);
      }
      expect(await balances(world, world.bystander, world.executor)).toEqual(before);
    }
    // Neither kind may be rare, or the run would say nothing.
    expect(outcomes.success).toBeGreaterThan(RANDOM_CALLS / 4);
    expect(outcomes.revert).toBeGreaterThan(RANDOM_CALLS / 4);
  }, 180_000);

  /** What one transaction took from the bystander, or left in or allowed by the executor. */
  function movements({ logs }: Receipt): string[] {
    const found: string[] = [];
    const held = new Map<Hex, bigint>();
    const [bystander, executor] = [topicOf(world.bystander), topicOf(world.executor)];
    for (const { address, topics, data } of logs) {
      const [event, first, second] = topics;
      if (event === APPROVAL && first === executor) found.push("the executor approved somebody");
      if (event === TRANSFER && first === bystander) found.push("the bystander paid");
      const sign =
        (event === TRANSFER && second === executor) || (event === DEPOSIT && first === executor)
          ? 1n
          : (event === TRANSFER || event === WITHDRAWAL) && first === executor
            ? -1n
            : 0n;
      if (sign !== 0n) held.set(address, (held.get(address) ?? 0n) + sign * BigInt(data));
    }
    for (const [token, amount] of held) if (amount !== 0n) found.push(`${amount} left of ${token}`);
    return found;
  }

  type Pick = <Item>(items: readonly Item[]) => Item;
  interface Pool {
    readonly pair: [Hex, Hex];
    readonly venue: number;
    readonly fee: number;
  }
  const otherOf = ({ pair }: Pool, token: Hex) => (pair[0] === token ? pair[1] : pair[0]);

  function existingPools(): Pool[] {
    const { USDC, EURC, USDT, WETH } = world.tokens;
    return [
      { pair: [USDC, EURC], venue: V2, fee: 0 },
      { pair: [USDC, USDT], venue: V2, fee: 0 },
      { pair: [WETH, EURC], venue: V2, fee: 0 },
      { pair: [USDC, EURC], venue: V3, fee: 500 },
      { pair: [USDT, EURC], venue: V3, fee: 500 },
      { pair: [USDC, USDT], venue: V3, fee: 100 },
      { pair: [WETH, USDC], venue: V3, fee: 3_000 },
    ];
  }

  function hopThrough(pool: Pool, tokenIn: Hex, amountIn: bigint): Hop {
    return {
      venue: pool.venue,
      fee: pool.fee,
      tokenIn,
      tokenOut: otherOf(pool, tokenIn),
      amountIn,
    };
  }

  /** One pool after the other. */
  function randomChain(pick: Pick, start: Hex, amountIn: bigint): Hop[] {
    const hops: Hop[] = [];
    for (let at = start, length = pick([1, 1, 2, 3]); hops.length < length;) {
      const onward = existingPools().filter(
        ({ pair }) => pair.includes(at) && (at === start || !pair.includes(start)),
      );
      if (onward.length === 0) break;
      const hop = hopThrough(pick(onward), at, hops.length === 0 ? amountIn : 1n);
      hops.push(hop);
      at = hop.tokenOut;
    }
    return hops;
  }

  /** The input split over pools, what they buy merged and split again on its way to one token. */
  function randomGraph(pick: Pick, start: Hex, part: bigint): Hop[] {
    const pools = existingPools();
    const end = pick(Object.values(world.tokens).filter((token) => token !== start));
    const onward = (token: Hex) =>
      pools.filter(({ pair }) => pair.includes(token) && pair.includes(end));
    const usable = pools.filter(
      (pool) =>
        pool.pair.includes(start) &&
        (otherOf(pool, start) === end || onward(otherOf(pool, start)).length > 0),
    );
    const count = pick([1, 2, 3]);
    const first = Array.from({ length: count }, () => hopThrough(pick(usable), start, part));
    const middle = new Set(first.map(({ tokenOut }) => tokenOut).filter((token) => token !== end));
    const second = [...middle].flatMap((token) =>
      Array.from({ length: pick([1, 2]) }, () =>
        hopThrough(pick(onward(token)), token, pick([1n, part, 10n ** 6n])),
      ),
    );
    return [...first, ...second];
  }

  /** An order along pools that exist, in which half the time one part is replaced by an odd one. */
  function randomOrder(random: () => number): Order {
    const pick: Pick = (items) => items[Math.floor(random() * items.length)]!;
    const { USDC, EURC, USDT, WETH } = world.tokens;
    const start = pick([USDC, EURC, USDT, WETH]);
    const scale = start === EURC || start === WETH ? 10n ** 12n : 1n;
    const part = pick([10n ** 4n, 10n ** 6n, 10n ** 7n]) * scale;
    const hops = random() < 0.5 ? randomChain(pick, start, part) : randomGraph(pick, start, part);
    const end = hops.at(-1)?.tokenOut ?? start;
    const sensible: Order = {
      tokenIn: start === WETH && random() < 0.5 ? NATIVE : start,
      tokenOut: end === WETH && random() < 0.5 ? NATIVE : end,
      amountIn: hops.reduce((sum, hop) => sum + (hop.tokenIn === start ? hop.amountIn : 0n), 0n),
      minAmountOut: 1n,
      deadline: NEVER,
      feeBps: pick([0, 30]),
      hops,
    };
    return random() < 0.5 ? sensible : { ...sensible, ...oddPart(pick, sensible) };
  }

  function oddPart(pick: Pick, { amountIn, hops }: Order): Partial<Order> {
    const address = pick<Hex>([world.executor, world.bystander, world.v2.factory, NATIVE]);
    const amount = pick([0n, 1n, 10n ** 24n, 2n ** 255n, 2n ** 256n - 1n]);
    const [first] = hops as [Hop, ...Hop[]];
    const odd = pick(hops);
    const changed = (change: Partial<Hop>) =>
      hops.map((hop) => (hop === odd ? { ...hop, ...change } : hop));
    return pick<Partial<Order>>([
      { tokenIn: address },
      { tokenOut: address },
      { amountIn: amount },
      { amountIn: amount, hops: [{ ...first, amountIn: amount }, ...hops.slice(1)] },
      { feeBps: 101 },
      { minAmountOut: amount },
      { hops: [...hops, { ...first, amountIn: 0n }] },
      { hops: [...hops].reverse() },
      { hops: [...hops, ...hops], amountIn: 2n * amountIn },
      { hops: hops.filter((hop) => hop !== odd) },
      { hops: changed({ tokenIn: address }) },
      { hops: changed({ tokenOut: address }) },
      { hops: changed({ tokenIn: odd.tokenOut, tokenOut: odd.tokenIn }) },
      { hops: changed({ amountIn: amount }) },
      { hops: [{ ...first, venue: 5, tokenOut: address }] },
      { hops: [{ ...first, venue: V2, tokenOut: address }] },
    ]);
  }

  /** Cuts the calldata short, or writes an address, a huge number or zero over one of its words. */
  function mutate(random: () => number, data: Hex): Hex {
    const words = Math.floor((size(data) - 4) / 32);
    const at = 4 + 32 * Math.floor(random() * words);
    if (random() < 0.2) return slice(data, 0, at + 16);
    const choices: Hex[] = [
      padHex(world.bystander, { size: 32 }),
      padHex(world.executor, { size: 32 }),
      padHex(world.v3.factory, { size: 32 }),
      numberToHex(2n ** 256n - 1n, { size: 32 }),
      numberToHex(0, { size: 32 }),
      numberToHex(32, { size: 32 }),
    ];
    const word = choices[Math.floor(random() * choices.length)] as Hex;
    const head = slice(data, 0, at);
    return at + 32 < size(data)
      ? concatHex([head, word, slice(data, at + 32)])
      : concatHex([head, word]);
  }

  test("unknown selectors revert", async () => {
    const random = seededRandom(7);
    const known = encodeFunctionData({ abi: swapExecutorAbi, functionName: "venueCount" });
    for (let i = 0; i < 50; i++) {
      const selector = numberToHex(Math.floor(random() * 0xffffffff), { size: 4 });
      const data = concatHex([selector, padHex(world.bystander, { size: 32 }), known]);
      const receipt = await world.send(world.user, world.executor, data, 0n, true);
      expect(receipt.status).toBe("0x0");
    }
  });
});
