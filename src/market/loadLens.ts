import {
  type Address,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  fromHex,
  type Hex,
} from "viem";
import { poolLensAbi } from "./lens/abi/poolLens.ts";
import { poolLensOnceAbi } from "./lens/abi/poolLensOnce.ts";
import lens from "./lens/artifacts/PoolLens.json" with { type: "json" };
import lensOnce from "./lens/artifacts/PoolLensOnce.json" with { type: "json" };
import type { BlockRef } from "./pool.ts";
import { NodeAnswerError, type PinnedReader } from "./reader.ts";
import { sqrtPriceAtTick } from "./tickMath.ts";
import type { V3Reading } from "./v3Reading.ts";

/** Where the lens's code is lent to; nobody's address, derived from nothing. */
const LENS_ADDRESS: Address = "0x00000000000000000000000000000000ca05e3a1";
/** Layout of lens/PoolReader.sol, in bytes. */
const FORMAT = 1;
const HEADER_BYTES = 43;
const TICK_BYTES = 35;

/** Bitmap words to read, both included. */
export interface WordRange {
  readonly first: number;
  readonly last: number;
}

/** Reads part of a pool in one `eth_call`. */
export type LensRead = (
  reader: PinnedReader,
  pool: Address,
  words: WordRange,
  block: BlockRef,
) => Promise<V3Reading>;

/** The lens's code lent to an address by a state override: bounded by gas alone. */
export const readByOverride: LensRead = async (reader, pool, { first, last }, block) => {
  const call = { abi: poolLensAbi, functionName: "read" } as const;
  const data = await reader.call(
    { to: LENS_ADDRESS, data: encodeFunctionData({ ...call, args: [pool, first, last] }) },
    block,
    { [LENS_ADDRESS]: { code: lens.deployedBytecode as Hex } },
  );
  // A node that ignores overrides finds no code and answers nothing.
  if (data === "0x") throw new NodeAnswerError("state overrides are ignored");
  return decodeReading(decodeFunctionResult({ ...call, data }));
};

/**
 * The lens as creation code, whose result a node takes for the code of a new contract: at most
 * 24,576 bytes, which is some 700 ticks.
 */
export const readByCreation: LensRead = async (reader, pool, { first, last }, block) => {
  const data = encodeDeployData({
    abi: poolLensOnceAbi,
    bytecode: lensOnce.bytecode as Hex,
    args: [pool, first, last],
  });
  return decodeReading(await reader.call({ data }, block));
};

/** Undoes the packing of lens/PoolReader.sol. */
function decodeReading(packed: Hex): V3Reading {
  const bytes = fromHex(packed, "bytes");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isWhole = bytes.length >= HEADER_BYTES && (bytes.length - HEADER_BYTES) % TICK_BYTES === 0;
  if (!isWhole || bytes[0] !== FORMAT) throw new NodeAnswerError("not the lens's format");
  const ticks = Array.from(
    { length: (bytes.length - HEADER_BYTES) / TICK_BYTES },
    (_, position) => {
      const at = HEADER_BYTES + position * TICK_BYTES;
      const index = int24At(view, at);
      return {
        index,
        liquidityGross: uint128At(view, at + 3),
        liquidityNet: BigInt.asIntN(128, uint128At(view, at + 19)),
        sqrtPriceX96: sqrtPriceAtTick(index),
      };
    },
  );
  return {
    tickSpacing: int24At(view, 1),
    sqrtPriceX96: (BigInt(view.getUint32(4)) << 128n) | uint128At(view, 8),
    tick: int24At(view, 24),
    liquidity: uint128At(view, 27),
    ticks,
  };
}

function uint128At(view: DataView, at: number): bigint {
  return (view.getBigUint64(at) << 64n) | view.getBigUint64(at + 8);
}

function int24At(view: DataView, at: number): number {
  return (view.getInt16(at) << 8) | view.getUint8(at + 2);
}
