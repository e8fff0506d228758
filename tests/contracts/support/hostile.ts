import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { encodeFunctionData, type Hex, parseAbi } from "viem";
import { compileContracts, type ContractArtifact } from "../../../src/contracts/compile.ts";
import type { World } from "./world.ts";

export type HostileName = "HostileToken" | "HostileVenue" | "HostileWallet";
export type HostileContracts = Record<HostileName, ContractArtifact>;

/** Compiles the contracts of tests/contracts/solidity. */
export async function compileHostile(): Promise<HostileContracts> {
  const folder = join(import.meta.dirname, "..", "solidity");
  const files = (await readdir(folder)).sort();
  const texts = await Promise.all(files.map((file) => Bun.file(join(folder, file)).text()));
  const sources = Object.fromEntries(files.map((file, i) => [file, texts[i] ?? ""]));
  const artifacts = await compileContracts(sources);
  return Object.fromEntries(artifacts.map((one) => [one.contractName, one])) as HostileContracts;
}

export const hostileAbi = parseAbi([
  "function mint(address to, uint256 amount)",
  "function setReturnsFalse(bool value)",
  "function setTax(uint256 bps)",
  "function setSurcharge(uint256 amount)",
  "function setBlocked(address account)",
  "function arm(address target, address account, bytes data)",
  "function reset()",
  "function hookRan() view returns (bool)",
  "function hookError() view returns (bytes4)",
  "function create(address first, address second, uint24 fee)",
  "function lastPool() view returns (address)",
  "function initCodeHash() view returns (bytes32)",
  "function setMode(uint8 mode)",
  "function runAll((address target, bytes data)[] calls)",
  "function prepare(address target, bytes data)",
]);

type HostileCall =
  | "mint"
  | "setReturnsFalse"
  | "setTax"
  | "setSurcharge"
  | "setBlocked"
  | "reset"
  | "arm"
  | "create"
  | "setMode"
  | "prepare";

/** Changes a hostile contract's behaviour. */
export async function tell(
  world: World,
  target: Hex,
  functionName: HostileCall,
  ...args: readonly unknown[]
): Promise<void> {
  const data = encodeFunctionData({ abi: hostileAbi, functionName, args } as never);
  await world.send(world.provider, target, data);
}

/** Reads from a hostile contract. */
export async function ask<Answer>(
  world: World,
  address: Hex,
  functionName: "hookRan" | "hookError" | "lastPool" | "initCodeHash",
): Promise<Answer> {
  return (await world.client.readContract({ address, abi: hostileAbi, functionName })) as Answer;
}
