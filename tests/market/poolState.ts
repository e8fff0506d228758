import { type Address, createPublicClient, http, parseAbi } from "viem";
import type { V3Pool } from "../../src/market/index.ts";
import { sqrtPriceAtTick } from "../../src/market/tickMath.ts";

const poolAbi = parseAbi([
  "function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint8, bool)",
  "function liquidity() view returns (uint128)",
  "function fee() view returns (uint24)",
  "function tickSpacing() view returns (int24)",
  "function tickBitmap(int16 word) view returns (uint256)",
  "function ticks(int24 tick) view returns (uint128 liquidityGross, int128 liquidityNet, uint256, uint256, int56, uint160, uint32, bool)",
]);

type Client = ReturnType<typeof createPublicClient>;

/** A client of a test chain, batching through the given Multicall3. */
export function chainClient(url: string): Client {
  return createPublicClient({ transport: http(url), cacheTime: 0 });
}

/** Reads a whole v3 pool, word by word of its bitmap. */
export async function readV3Pool(
  client: Client,
  multicallAddress: Address,
  address: Address,
): Promise<V3Pool> {
  const pool = { address, abi: poolAbi } as const;
  const options = { allowFailure: false, multicallAddress, batchSize: 60_000 } as const;
  const [[sqrtPriceX96, tick], liquidity, feePips, tickSpacing] = await client.multicall({
    ...options,
    contracts: [
      { ...pool, functionName: "slot0" },
      { ...pool, functionName: "liquidity" },
      { ...pool, functionName: "fee" },
      { ...pool, functionName: "tickSpacing" },
    ],
  });
  const lastWord = Math.floor(887_272 / tickSpacing) >> 8;
  const words = Array.from({ length: 2 * lastWord + 2 }, (_, index) => index - lastWord - 1);
  const bitmaps = await client.multicall({
    ...options,
    contracts: words.map(
      (word) => ({ ...pool, functionName: "tickBitmap", args: [word] }) as const,
    ),
  });
  const indexes = words.flatMap((word, position) =>
    Array.from({ length: 256 }, (_, bit) => bit)
      .filter((bit) => (bitmaps[position]! >> BigInt(bit)) & 1n)
      .map((bit) => (word * 256 + bit) * tickSpacing),
  );
  const states = await client.multicall({
    ...options,
    contracts: indexes.map((index) => ({ ...pool, functionName: "ticks", args: [index] }) as const),
  });
  const ticks = indexes.map((index, position) => ({
    index,
    liquidityNet: states[position]![1],
    sqrtPriceX96: sqrtPriceAtTick(index),
  }));
  return { sqrtPriceX96, tick, liquidity, feePips, tickSpacing, ticks };
}
