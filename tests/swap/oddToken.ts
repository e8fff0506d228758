import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Address, createWalletClient, getAddress, http, parseAbi, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { compileContracts } from "../../src/contracts/compile.ts";
import { readArtifact } from "../../src/sandbox/deploy/artifacts.ts";
import { type SwapWorld, wallet } from "./support.ts";

const HOSTILE = new URL("../contracts/solidity/HostileToken.sol", import.meta.url);
const LAYOUTS = join(import.meta.dirname, "solidity");
const NEVER = 2n ** 40n;
const Q96 = 2n ** 96n;
const V3_FEE = 3_000;
const FULL_RANGE = 887_220;
const POOL_UNITS = 100_000_000_000n;
/** Enough for each; an estimate in a block of the same time lacks what pools write once per block. */
const GAS = 10_000_000n;

export const oddTokenAbi = parseAbi([
  "function mint(address to, uint256 amount)",
  "function setTax(uint256 bps)",
  "function setReturnsFalse(bool value)",
  "function approve(address spender, uint256 amount)",
]);
const poolAbi = parseAbi([
  "function addLiquidity(address, address, uint256, uint256, uint256, uint256, address, uint256)",
  "function createAndInitializePoolIfNecessary(address, address, uint24, uint160) returns (address)",
  "function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline))",
]);

/** A token nobody configured, with deep pools against USDC on venue-a and venue-b. */
export interface OddToken {
  readonly address: Address;
  /** Changes how it behaves. */
  tell(functionName: "setTax" | "setReturnsFalse", value: bigint | boolean): Promise<void>;
}

type Artifact = Pick<ReturnType<typeof readArtifact>, "abi" | "bytecode">;

/** Deploys a token, gives the wallet some, and fills its pools. */
export async function deployOddToken(world: SwapWorld, artifact: Artifact): Promise<OddToken> {
  const signer = createWalletClient({
    account: privateKeyToAccount(wallet.privateKey),
    transport: http(world.chain.url),
    pollingInterval: 20,
  }).extend(publicActions);
  const mined = async (hash: Promise<Address>) => {
    const receipt = await signer.waitForTransactionReceipt({ hash: await hash });
    if (receipt.status !== "success") throw new Error("a transaction of the set-up failed");
    return receipt;
  };
  const deploy = async ({ abi, bytecode }: Artifact, args: unknown[] = []) => {
    const { contractAddress } = await mined(
      signer.deployContract({ abi, bytecode, args, chain: null, gas: GAS }),
    );
    return getAddress(contractAddress!);
  };
  const write = (
    address: Address,
    abi: typeof oddTokenAbi | typeof poolAbi,
    functionName: string,
    args: readonly unknown[],
  ) => {
    const call = { address, abi, functionName, args, chain: null, gas: GAS };
    return mined(signer.writeContract(call as never));
  };

  const token = await deploy(artifact);
  const usdc = world.token("USDC");
  const { venues, wrappedNative } = world.chain.deployment;
  const [v3, v2] = [venues[0]!, venues[1]!];
  const positions = await deploy(readArtifact("v3Positions"), [
    v3.factory,
    wrappedNative,
    v3.factory,
  ]);
  await write(token, oddTokenAbi, "mint", [wallet.address, 4n * POOL_UNITS]);
  for (const spender of [v2.router as Address, positions]) {
    for (const each of [token, usdc]) {
      await write(each, oddTokenAbi, "approve", [spender, POOL_UNITS]);
    }
  }
  await write(v2.router as Address, poolAbi, "addLiquidity", [
    token,
    usdc,
    POOL_UNITS,
    POOL_UNITS,
    0n,
    0n,
    wallet.address,
    NEVER,
  ]);
  const [token0, token1] = BigInt(token) < BigInt(usdc) ? [token, usdc] : [usdc, token];
  await write(positions, poolAbi, "createAndInitializePoolIfNecessary", [
    token0,
    token1,
    V3_FEE,
    Q96,
  ]);
  const range = { tickLower: -FULL_RANGE, tickUpper: FULL_RANGE };
  const amounts = {
    amount0Desired: POOL_UNITS,
    amount1Desired: POOL_UNITS,
    amount0Min: 0n,
    amount1Min: 0n,
  };
  await write(positions, poolAbi, "mint", [
    {
      token0,
      token1,
      fee: V3_FEE,
      ...range,
      ...amounts,
      recipient: wallet.address,
      deadline: NEVER,
    },
  ]);
  return {
    address: token,
    tell: async (name, value) => void (await write(token, oddTokenAbi, name, [value])),
  };
}

/** A token that can tax its transfers, in the most usual layout. */
export async function hostileToken(): Promise<Artifact> {
  const source = { "HostileToken.sol": await Bun.file(HOSTILE).text() };
  const [artifact] = await compileContracts(source);
  return artifact!;
}

/** Tokens by name that keep their numbers in ways of their own. */
export async function oddLayouts(): Promise<Map<string, Artifact>> {
  const files = (await readdir(LAYOUTS)).sort();
  const texts = await Promise.all(files.map((file) => Bun.file(join(LAYOUTS, file)).text()));
  const sources = Object.fromEntries(files.map((file, index) => [file, texts[index]!]));
  const artifacts = await compileContracts(sources);
  return new Map(artifacts.map((artifact) => [artifact.contractName, artifact]));
}
