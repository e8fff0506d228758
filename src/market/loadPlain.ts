import type { Address } from "viem";
import { v3Abi } from "./abi.ts";
import { Aggregate } from "./aggregate.ts";
import type { BlockRef } from "./pool.ts";
import { NodeAnswerError, type PinnedReader } from "./reader.ts";
import { sqrtPriceAtTick } from "./tickMath.ts";
import { allWords, type V3Reading } from "./v3Reading.ts";

/**
 * Reads a whole pool with the pool's own getters through Multicall3: every bitmap word, then every
 * initialised tick. Needs nothing of a node but `eth_call`; takes several calls at one block.
 */
export async function readByGetters(
  reader: PinnedReader,
  multicall3: Address,
  pool: Address,
  tickSpacing: number,
  block: BlockRef,
): Promise<V3Reading> {
  const state = new Aggregate();
  const slot0 = state.add(pool, v3Abi, "slot0");
  const liquidity = state.add(pool, v3Abi, "liquidity");
  const { first, last } = allWords(tickSpacing);
  const words = Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  const bitmaps = words.map((word) => state.add(pool, v3Abi, "tickBitmap", [word]));
  await state.send(reader, multicall3, block);
  const indexes = words.flatMap((word, position) =>
    bitsOf(present(bitmaps[position]?.())).map((bit) => (word * 256 + bit) * tickSpacing),
  );

  const details = new Aggregate();
  const ticks = indexes.map((index) => ({
    index,
    read: details.add(pool, v3Abi, "ticks", [index]),
  }));
  await details.send(reader, multicall3, block);
  const [sqrtPriceX96, tick] = present(slot0());
  return {
    tickSpacing,
    sqrtPriceX96,
    tick,
    liquidity: present(liquidity()),
    ticks: ticks.map(({ index, read }) => {
      const [liquidityGross, liquidityNet] = present(read());
      return { index, liquidityGross, liquidityNet, sqrtPriceX96: sqrtPriceAtTick(index) };
    }),
  };
}

function bitsOf(bitmap: bigint): number[] {
  const bits: number[] = [];
  for (let rest = bitmap, bit = 0; rest > 0n; rest >>= 1n, bit += 1) {
    if (rest & 1n) bits.push(bit);
  }
  return bits;
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new NodeAnswerError("a pool's getter did not answer");
  return value;
}
