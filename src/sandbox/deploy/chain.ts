import { keccak256, type Hex } from "viem";
import type { TokenData, VenueData } from "../../config/index.ts";
import { type ExecutorVenue, executorDeployment } from "../../contracts/index.ts";
import type { SandboxAccounts } from "../accounts.ts";
import type { NodeRpc } from "../rpc.ts";
import { deployAggregators } from "./aggregators.ts";
import { multicall3Bytecode, readArtifact } from "./artifacts.ts";
import { deployCctp, type SandboxCctp } from "./cctp.ts";
import { nativeDexPools, venueAPools, venueBPools } from "./liquidity.ts";
import { deployTokens, type SandboxTokens } from "./tokens.ts";
import { createTransactionList } from "./transactions.ts";
import { deployUniswapV2, type V2Venue } from "./uniswapV2.ts";
import { deployUniswapV3, TICK_SPACINGS, type V3Venue } from "./uniswapV3.ts";

/** A venue of the registry whose addresses are known to be hex. */
export interface SandboxVenue extends VenueData {
  readonly factory: Hex;
  readonly router: Hex;
  readonly quoter: Hex;
  readonly initCodeHash: Hex;
}

/** A token of the registry whose address is known to be hex. */
export interface SandboxTokenData extends TokenData {
  readonly address: Hex;
}

/** What stands on a prepared chain; the same addresses on every chain, which differ in their domain. */
export interface Deployment {
  readonly tokens: readonly SandboxTokenData[];
  /** In the order of the executor's table. */
  readonly venues: readonly SandboxVenue[];
  readonly wrappedNative: Hex;
  readonly executor: Hex;
  readonly multicall3: Hex;
  readonly cctp: SandboxCctp;
  /** Chainlink stand-ins by the symbol they price; empty until someone submits a round. */
  readonly aggregators: Readonly<Record<string, Hex>>;
}

/** Multicall3's address on every network (mds1/multicall3). */
const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";
const V2_FEE_BPS = 30;
const PROVIDER_NATIVE = 10n ** 25n;

/**
 * Deploys everything on an empty chain: tokens, three venues with their pools, Multicall3, the
 * swap executor and CCTP.
 * @param chainId - decides the CCTP domain
 * @param executorChainIds - chains in the executor's table, which decides its address
 */
export async function deployChain(
  rpc: NodeRpc,
  chainId: number,
  accounts: SandboxAccounts,
  executorChainIds: readonly number[],
): Promise<Deployment> {
  const provider = accounts.deployer.address;
  const users = [...accounts.wallets, accounts.operator].map(({ address }) => address);
  const list = createTransactionList(provider);
  const tokens = deployTokens(list, provider, users);
  const venues = [
    v3Venue("venue-a", "Uniswap v3", deployUniswapV3(list, tokens, provider, venueAPools)),
    v2Venue("venue-b", deployUniswapV2(list, "venue-b", tokens, provider, venueBPools)),
    v2Venue("native-dex", deployUniswapV2(list, "native-dex", tokens, provider, nativeDexPools)),
  ];
  const wrappedNative = tokens.WETH.contract.address;
  const executorVenues = venues.map(executorVenue);
  const executor = executorDeployment({
    table: executorChainIds.map((id) => ({
      chainId: BigInt(id),
      wrappedNative,
      venues: executorVenues,
    })),
    feeRecipient: accounts.feeRecipient.address,
  });
  list.send("executor", executor.factory, executor.calldata);
  const cctp = deployCctp(list, chainId, provider, tokens.USDC);
  const aggregators = deployAggregators(list, provider);

  await rpc.call("anvil_setBalance", [provider, `0x${PROVIDER_NATIVE.toString(16)}`]);
  await list.submit(rpc);
  await placeMulticall3(rpc);
  return {
    tokens: tokenData(tokens),
    venues,
    wrappedNative,
    executor: executor.address,
    aggregators,
    multicall3: MULTICALL3,
    cctp,
  };
}

/** Runs the creation code without a transaction and puts what it returns where it belongs. */
async function placeMulticall3(rpc: NodeRpc): Promise<void> {
  const code = await rpc.call("eth_call", [{ data: await multicall3Bytecode() }, "latest"]);
  await rpc.call("anvil_setCode", [MULTICALL3, code]);
}

function executorVenue(venue: SandboxVenue): ExecutorVenue {
  const { factory, initCodeHash, feeBps } = venue;
  return venue.type === "v2"
    ? { factory, initCodeHash, kind: 2, feeBps: feeBps ?? V2_FEE_BPS }
    : { factory, initCodeHash, kind: 3, feeBps: 0 };
}

function tokenData(tokens: SandboxTokens): SandboxTokenData[] {
  return Object.values(tokens).map(({ symbol, name, decimals, contract }) => ({
    symbol,
    name,
    address: contract.address,
    decimals,
  }));
}

function v2Venue(id: "venue-b" | "native-dex", { factory, router }: V2Venue): SandboxVenue {
  return {
    id,
    name: id === "venue-b" ? "Uniswap v2" : "Native DEX",
    type: "v2",
    factory,
    router,
    quoter: router,
    initCodeHash: keccak256(readArtifact("v2Pair").bytecode),
    feeBps: V2_FEE_BPS,
    enabled: true,
  };
}

function v3Venue(id: string, name: string, { factory, router, quoter }: V3Venue): SandboxVenue {
  return {
    id,
    name,
    type: "v3",
    factory,
    router,
    quoter,
    initCodeHash: keccak256(readArtifact("v3Pool").bytecode),
    feeTiers: Object.keys(TICK_SPACINGS).map(Number),
    enabled: true,
  };
}
