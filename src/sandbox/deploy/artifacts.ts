import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Abi, Hex } from "viem";

/** A compiled contract: its interface and its creation code. */
export interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

const V3_CORE = "@uniswap/v3-core/artifacts/contracts";
const V3_PERIPHERY = "@uniswap/v3-periphery/artifacts/contracts";

/** Packages whose compiled contracts run on the local chains, for local use only. */
export const artifactFiles = {
  weth: "canonical-weth/build/contracts/WETH9.json",
  v2Factory: "@uniswap/v2-core/build/UniswapV2Factory.json",
  v2Pair: "@uniswap/v2-core/build/UniswapV2Pair.json",
  v2Router: "@uniswap/v2-periphery/build/UniswapV2Router02.json",
  v3Factory: `${V3_CORE}/UniswapV3Factory.sol/UniswapV3Factory.json`,
  v3Pool: `${V3_CORE}/UniswapV3Pool.sol/UniswapV3Pool.json`,
  v3Positions: `${V3_PERIPHERY}/NonfungiblePositionManager.sol/NonfungiblePositionManager.json`,
  v3Quoter: `${V3_PERIPHERY}/lens/QuoterV2.sol/QuoterV2.json`,
  v3Router: `${V3_PERIPHERY}/SwapRouter.sol/SwapRouter.json`,
  usdc: "../contracts/artifacts/TestUSDC.json",
  eurc: "../contracts/artifacts/EURC.json",
  usdt: "../contracts/artifacts/USDT.json",
  messageTransmitter: "../contracts/artifacts/TestMessageTransmitterV2.json",
  tokenMinter: "../contracts/artifacts/TestTokenMinterV2.json",
  tokenMessenger: "../contracts/artifacts/TestTokenMessengerV2.json",
  aggregator: "../contracts/artifacts/TestAggregatorV3.json",
} as const;

export type ArtifactName = keyof typeof artifactFiles;

/** Full path of a contract's artifact file. */
export function artifactPath(name: ArtifactName): string {
  const file = artifactFiles[name];
  if (file.startsWith("..")) return join(import.meta.dir, file);
  return Bun.resolveSync(file, import.meta.dir);
}

/** Reads a compiled contract; the 0x prefix some compilers leave out is added. */
export function readArtifact(name: ArtifactName): Artifact {
  const { abi, bytecode } = JSON.parse(readFileSync(artifactPath(name), "utf8"));
  return { abi, bytecode: bytecode.startsWith("0x") ? bytecode : `0x${bytecode}` };
}

/** Creation code of Multicall3, which viem carries without exporting it. */
export async function multicall3Bytecode(): Promise<Hex> {
  const viem = dirname(Bun.resolveSync("viem/package.json", import.meta.dir));
  const constants = await import(join(viem, "_esm/constants/contracts.js"));
  return constants.multicall3Bytecode;
}
