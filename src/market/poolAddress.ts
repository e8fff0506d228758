import {
  type Address,
  encodeAbiParameters,
  encodePacked,
  getContractAddress,
  type Hex,
  keccak256,
} from "viem";

/** A factory that creates its pools with CREATE2. */
export interface PoolFactory {
  readonly factory: string;
  /** keccak256 of the pools' creation code. */
  readonly initCodeHash: string;
}

/** Whether `a` is token0 of a pool of both: pools order their tokens by address. */
export function sortsBefore(a: string, b: string): boolean {
  return a.toLowerCase() < b.toLowerCase();
}

/** Address of the v2 pair of two tokens (UniswapV2Library.pairFor); checksummed. */
export function v2PairAddress(factory: PoolFactory, tokenA: Address, tokenB: Address): Address {
  const [token0, token1] = sortsBefore(tokenA, tokenB) ? [tokenA, tokenB] : [tokenB, tokenA];
  return create2(factory, keccak256(encodePacked(["address", "address"], [token0, token1])));
}

/**
 * Address of the v3 pool of two tokens and a fee tier (v3-periphery's PoolAddress); checksummed.
 * @param feePips - the tier, millionths
 */
export function v3PoolAddress(
  factory: PoolFactory,
  tokenA: Address,
  tokenB: Address,
  feePips: number,
): Address {
  const [token0, token1] = sortsBefore(tokenA, tokenB) ? [tokenA, tokenB] : [tokenB, tokenA];
  const key = encodeAbiParameters(
    [{ type: "address" }, { type: "address" }, { type: "uint24" }],
    [token0, token1, feePips],
  );
  return create2(factory, keccak256(key));
}

function create2(factory: PoolFactory, salt: Hex): Address {
  return getContractAddress({
    opcode: "CREATE2",
    from: factory.factory as Address,
    salt,
    bytecodeHash: factory.initCodeHash as Hex,
  });
}
