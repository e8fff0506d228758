import { afterAll, beforeAll, expect, test } from "bun:test";
import { concatHex, encodeFunctionData, type Hex, numberToHex, parseAbi } from "viem";
import { readArtifact } from "../../src/sandbox/deploy/artifacts.ts";
import {
  approve,
  NATIVE,
  NEVER,
  order,
  startWorld,
  type Step,
  swapData,
  v2Hop,
  v3Hop,
  type World,
} from "./support/world.ts";

const v2Abi = parseAbi([
  "function swapExactTokensForTokens(uint256, uint256, address[], address, uint256)",
  "function swapExactETHForTokens(uint256, address[], address, uint256) payable",
  "function swapExactTokensForETH(uint256, uint256, address[], address, uint256)",
]);
const v3Abi = readArtifact("v3Router").abi;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  for (const token of Object.values(world.tokens)) {
    await approve(world, world.user, token, world.v2.router);
    await approve(world, world.user, token, world.v3.router);
  }
}, 60_000);
afterAll(() => world.stop());

/**
 * Gas of a transaction the second time it is sent. The first time, later than the last block,
 * writes what pools write once (price accumulators); the second is the usual case.
 */
async function gasOf(to: Hex, data: Hex, value = 0n): Promise<number> {
  let gasUsed: Hex = "0x0";
  for (let run = 0; run < 2; run++) {
    await world.rpc("evm_increaseTime", [12]);
    ({ gasUsed } = await world.send(world.user, to, data, value));
  }
  return Number(gasUsed);
}

function v2Router(amountIn: bigint, path: Hex[]): Hex {
  return encodeFunctionData({
    abi: v2Abi,
    functionName: "swapExactTokensForTokens",
    args: [amountIn, 1n, path, world.user, NEVER],
  });
}

function v3Router(tokenIn: Hex, amountIn: bigint, hops: Step[]): Hex {
  const common = { recipient: world.user, deadline: NEVER, amountIn, amountOutMinimum: 1n };
  const [first] = hops as [Step];
  if (hops.length === 1) {
    const pool = { tokenIn, tokenOut: first.tokenOut, fee: first.fee, sqrtPriceLimitX96: 0n };
    const args = [{ ...pool, ...common }];
    return encodeFunctionData({ abi: v3Abi, functionName: "exactInputSingle", args });
  }
  const rest = hops.flatMap(({ fee, tokenOut }) => [numberToHex(fee, { size: 3 }), tokenOut]);
  const args = [{ path: concatHex([tokenIn, ...rest]), ...common }];
  return encodeFunctionData({ abi: v3Abi, functionName: "exactInput", args });
}

test("one hop costs at most 10 % more than with the venue's own router", async () => {
  const { USDC, EURC, USDT, WETH } = world.tokens;
  const amount = 1_000_000n;
  const { executor, v2, v3, user } = world;
  const eurc = 10n ** 18n;
  // Away from the starting prices, so that no small swap crosses a tick.
  for (const hops of [[v3Hop(EURC)], [v3Hop(USDT, 100)]]) {
    await world.send(user, executor, swapData(order(USDC, 2_000_000_000n, hops)));
  }
  const v3Hops = [v3Hop(USDC, 100), v3Hop(EURC)];
  const v2EthIn = encodeFunctionData({
    abi: v2Abi,
    functionName: "swapExactETHForTokens",
    args: [1n, [WETH, USDC], user, NEVER],
  });
  const v2EthOut = encodeFunctionData({
    abi: v2Abi,
    functionName: "swapExactTokensForETH",
    args: [amount, 1n, [USDC, WETH], user, NEVER],
  });
  const ethIn = order(WETH, eurc / 1_000n, [v2Hop(USDC)], { tokenIn: NATIVE });
  const ethOut = order(USDC, amount, [v2Hop(WETH)], { tokenOut: NATIVE });
  const cases: [string, Hex, Hex, Hex, bigint?][] = [
    [
      "v2, USDC to EURC",
      v2.router,
      v2Router(amount, [USDC, EURC]),
      ours(USDC, amount, v2Hop(EURC)),
    ],
    ["v2, EURC to USDC", v2.router, v2Router(eurc, [EURC, USDC]), ours(EURC, eurc, v2Hop(USDC))],
    [
      "v3, USDC to EURC",
      v3.router,
      v3Router(USDC, amount, [v3Hop(EURC)]),
      ours(USDC, amount, v3Hop(EURC)),
    ],
    [
      "v3, EURC to USDC",
      v3.router,
      v3Router(EURC, eurc, [v3Hop(USDC)]),
      ours(EURC, eurc, v3Hop(USDC)),
    ],
    ["v2, native in", v2.router, v2EthIn, swapData(ethIn), eurc / 1_000n],
    ["v2, native out", v2.router, v2EthOut, swapData(ethOut)],
    [
      "v2 → v2",
      v2.router,
      v2Router(amount, [USDT, USDC, EURC]),
      ours(USDT, amount, v2Hop(USDC), v2Hop(EURC)),
    ],
    ["v3 → v3", v3.router, v3Router(USDT, amount, v3Hops), ours(USDT, amount, ...v3Hops)],
  ];
  const rows: Record<string, { router: number; executor: number; percent: number }> = {};
  for (const [name, router, routerData, data, value] of cases) {
    const [theirs, own] = [
      await gasOf(router, routerData, value),
      await gasOf(executor, data, value),
    ];
    rows[name] = {
      router: theirs,
      executor: own,
      percent: Number((((own - theirs) / theirs) * 100).toFixed(1)),
    };
  }
  process.stdout.write(`${Bun.inspect.table(rows)}\n`);
  for (const [name, { percent }] of Object.entries(rows)) {
    expect(`${name}: ${percent <= 10}`).toBe(`${name}: true`);
  }
});

function ours(tokenIn: Hex, amountIn: bigint, ...hops: Step[]): Hex {
  return swapData(order(tokenIn, amountIn, hops));
}
