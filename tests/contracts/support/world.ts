import {
  createPublicClient,
  decodeEventLog,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  http,
  keccak256,
  maxUint256,
  numberToHex,
  parseAbi,
  type PublicClient,
} from "viem";
import {
  type ExecutorVenue,
  executorDeployment,
  swapExecutorAbi,
} from "../../../src/contracts/index.ts";
import { sandboxAccounts } from "../../../src/sandbox/accounts.ts";
import { startAnvil } from "../../../src/sandbox/anvil.ts";
import { type Artifact, readArtifact } from "../../../src/sandbox/deploy/artifacts.ts";
import type { V2Pool, V3Pool } from "../../../src/sandbox/deploy/liquidity.ts";
import { deployTokens, type SandboxTokens } from "../../../src/sandbox/deploy/tokens.ts";
import { createTransactionList } from "../../../src/sandbox/deploy/transactions.ts";
import { deployUniswapV2, type V2Venue } from "../../../src/sandbox/deploy/uniswapV2.ts";
import { deployUniswapV3, type V3Venue } from "../../../src/sandbox/deploy/uniswapV3.ts";
import { createProcessGroup } from "../../../src/sandbox/processes.ts";
import type { NodeRpc } from "../../../src/sandbox/rpc.ts";

export const CHAIN_ID = 31_337;
export const NATIVE = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
/** Indices in the executor's table. */
export const V3 = 0;
export const V2 = 1;
export const NEVER = 2n ** 40n;

export const erc20 = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function allowance(address,address) view returns (uint256)",
  "function approve(address,uint256)",
  "function transfer(address,uint256)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

const GAS_LIMIT = numberToHex(20_000_000);
/** Enough for any of many calls, and low enough for several in a block. */
const MANY_GAS_LIMIT = numberToHex(2_500_000);
const MINING_TIMEOUT_MS = 30_000;

/** A pool on the way, which sells what comes before it. */
export interface Step {
  venue: number;
  fee: number;
  tokenOut: Hex;
}
export interface Hop extends Step {
  tokenIn: Hex;
  amountIn: bigint;
}
export interface Order {
  tokenIn: Hex;
  tokenOut: Hex;
  amountIn: bigint;
  minAmountOut: bigint;
  deadline: bigint;
  feeBps: number;
  hops: Hop[];
}

export interface Receipt {
  status: Hex;
  gasUsed: Hex;
  contractAddress: Hex;
  logs: { address: Hex; topics: [Hex, ...Hex[]]; data: Hex }[];
}

export interface World {
  client: PublicClient;
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  provider: Hex;
  user: Hex;
  /** Has given the executor unlimited allowances, and takes part in nothing. */
  bystander: Hex;
  feeRecipient: Hex;
  tokens: { USDC: Hex; EURC: Hex; USDT: Hex; WETH: Hex };
  v2: V2Venue;
  v3: V3Venue;
  venues: ExecutorVenue[];
  executor: Hex;
  /** Sends from an account the node holds; throws unless `mayFail`. */
  send(
    from: Hex,
    to: Hex | undefined,
    data: Hex,
    value?: bigint,
    mayFail?: boolean,
  ): Promise<Receipt>;
  /** Sends many at once, several to a block; receipts in the same order, whatever their status. */
  sendAll(
    from: Hex,
    to: Hex,
    calls: readonly { data: Hex; value: bigint }[],
  ): Promise<readonly Receipt[]>;
  deploy(artifact: Artifact, args?: readonly unknown[]): Promise<Hex>;
  balance(token: Hex, account: Hex): Promise<bigint>;
  stop(): Promise<void>;
}

const v2Pools: V2Pool[] = [
  { pair: ["USDC", "EURC"], usdPerSide: 1_000_000 },
  { pair: ["USDC", "USDT"], usdPerSide: 1_000_000 },
  { pair: ["WETH", "USDC"], usdPerSide: 1_000_000 },
  { pair: ["WETH", "EURC"], usdPerSide: 1_000_000 },
];
const v3Pools: V3Pool[] = [
  { pair: ["USDC", "EURC"], fee: 500, usdTotal: 1_000_000, positions: 6, spreadBps: 600 },
  { pair: ["USDT", "EURC"], fee: 500, usdTotal: 1_000_000, positions: 6, spreadBps: 600 },
  { pair: ["WETH", "USDC"], fee: 3_000, usdTotal: 1_000_000, positions: 6, spreadBps: 2_000 },
  { pair: ["USDC", "USDT"], fee: 100, usdTotal: 1_000_000, positions: 6, spreadBps: 100 },
];

/** A local chain with real v2 and v3 venues, the tokens, and an executor that knows them. */
export async function startWorld(): Promise<World> {
  const group = createProcessGroup();
  const anvil = await startAnvil(group, { chainId: CHAIN_ID });
  const rpc = impatient(anvil.rpc);
  const accounts = sandboxAccounts();
  const provider = accounts.deployer.address;
  const feeRecipient = accounts.feeRecipient.address;
  const [user, bystander] = accounts.wallets.map(({ address }) => address) as [Hex, Hex];

  const list = createTransactionList(provider);
  const tokens = deployTokens(list, provider, [user, bystander]);
  const v3 = deployUniswapV3(list, tokens, provider, v3Pools);
  const v2 = deployUniswapV2(list, "v2", tokens, provider, v2Pools);
  const venues = venuesOf(v2, v3);
  const table = [
    { chainId: BigInt(CHAIN_ID), wrappedNative: tokens.WETH.contract.address, venues },
  ];
  const executor = executorDeployment({ table, feeRecipient });
  list.send("executor", executor.factory, executor.calldata);
  await list.submit(rpc);

  const client = createPublicClient({ transport: http(anvil.url), cacheTime: 0 });
  const world: World = {
    client,
    rpc: rpc.call,
    provider,
    user,
    bystander,
    feeRecipient,
    tokens: addresses(tokens),
    v2,
    v3,
    venues,
    executor: executor.address,
    async send(from, to, data, value = 0n, mayFail = false) {
      const request = { from, ...(to && { to }), data, value: numberToHex(value), gas: GAS_LIMIT };
      const hash = await rpc.call("eth_sendTransaction", [request]);
      const receipt = await minedReceipt(rpc, hash);
      if (receipt.status !== "0x1" && !mayFail) throw new Error(`transaction to ${to} failed`);
      return receipt;
    },
    async sendAll(from, to, calls) {
      const first = Number(await rpc.call("eth_getTransactionCount", [from, "latest"]));
      const transactions = calls.map(({ data, value }, index) => {
        const terms = { value: numberToHex(value), gas: MANY_GAS_LIMIT };
        const nonce = numberToHex(first + index);
        return { method: "eth_sendTransaction", params: [{ from, to, data, nonce, ...terms }] };
      });
      // Mined by hand: what arrives out of order while the node mines may stay in its pool.
      await rpc.call("evm_setAutomine", [false]);
      const hashes = await rpc.batch(transactions);
      for (let mined = 0; mined < calls.length; mined++) {
        await rpc.call("evm_mine");
        const count = Number(await rpc.call("eth_getTransactionCount", [from, "latest"]));
        if (count >= first + calls.length) break;
      }
      await rpc.call("evm_setAutomine", [true]);
      return (await rpc.batch(
        hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
      )) as Receipt[];
    },
    async deploy({ abi, bytecode }, args = []) {
      const data = encodeDeployData({ abi, bytecode, args: [...args] });
      return getAddress((await world.send(provider, undefined, data)).contractAddress);
    },
    balance: (address, account) =>
      client.readContract({ address, abi: erc20, functionName: "balanceOf", args: [account] }),
    stop: () => group.stop(),
  };
  for (const holder of [user, bystander]) {
    for (const token of Object.values(world.tokens)) {
      await approve(world, holder, token, world.executor);
    }
  }
  return world;
}

/**
 * The node mines each transaction at once, though not before it answers; now and then, on a busy
 * machine, it only does with the next one. This client tells it to mine when receipts stay away.
 */
function impatient(rpc: NodeRpc): NodeRpc {
  let missing = 0;
  return {
    batch: rpc.batch,
    async call(method, params) {
      const result = await rpc.call(method, params);
      if (method === "eth_getTransactionReceipt" && result === null && ++missing % 20 === 0) {
        await rpc.call("evm_mine");
      }
      return result;
    },
  };
}

async function minedReceipt(rpc: NodeRpc, hash: unknown): Promise<Receipt> {
  const deadline = performance.now() + MINING_TIMEOUT_MS;
  for (;;) {
    const receipt = await rpc.call("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return receipt as Receipt;
    if (performance.now() > deadline) throw new Error(`transaction ${hash} was not mined`);
    await Bun.sleep(1);
  }
}

function addresses(tokens: SandboxTokens): World["tokens"] {
  const { USDC, EURC, USDT, WETH } = tokens;
  return {
    USDC: USDC.contract.address,
    EURC: EURC.contract.address,
    USDT: USDT.contract.address,
    WETH: WETH.contract.address,
  };
}

function venuesOf(v2: V2Venue, v3: V3Venue): ExecutorVenue[] {
  const v3Hash = keccak256(readArtifact("v3Pool").bytecode);
  const v2Hash = keccak256(readArtifact("v2Pair").bytecode);
  return [
    { factory: v3.factory, initCodeHash: v3Hash, kind: 3, feeBps: 0 },
    { factory: v2.factory, initCodeHash: v2Hash, kind: 2, feeBps: 30 },
  ];
}

/** Deploys another executor: same venues plus `extra`. */
export async function deployExecutorWith(
  world: World,
  parts: { venues?: ExecutorVenue[]; feeRecipient?: Hex; wrappedNative?: Hex },
): Promise<Hex> {
  const { address, factory, calldata } = executorDeployment({
    table: [
      {
        chainId: BigInt(CHAIN_ID),
        wrappedNative: parts.wrappedNative ?? world.tokens.WETH,
        venues: parts.venues ?? world.venues,
      },
    ],
    feeRecipient: parts.feeRecipient ?? world.feeRecipient,
  });
  await world.send(world.provider, factory, calldata);
  return address;
}

export async function approve(world: World, holder: Hex, token: Hex, spender: Hex): Promise<void> {
  const data = encodeFunctionData({
    abi: erc20,
    functionName: "approve",
    args: [spender, maxUint256],
  });
  await world.send(holder, token, data);
}

/** All of the input along one pool after the other, with a minimum of 1 and no fee unless `terms` says otherwise. */
export function order(
  tokenIn: Hex,
  amountIn: bigint,
  steps: Step[],
  terms: Partial<Order> = {},
): Order {
  const tokenOut = steps.at(-1)?.tokenOut ?? tokenIn;
  const common = { minAmountOut: 1n, deadline: NEVER, feeBps: 0 };
  return {
    tokenIn,
    tokenOut,
    amountIn,
    ...common,
    hops: chain(tokenIn, amountIn, steps),
    ...terms,
  };
}

/** Hops one after the other; what the later ones are planned to sell is all there is. */
export function chain(tokenIn: Hex, amountIn: bigint, steps: Step[]): Hop[] {
  return steps.map((step, index) => ({
    ...step,
    tokenIn: steps[index - 1]?.tokenOut ?? tokenIn,
    amountIn: index === 0 ? amountIn : 1n,
  }));
}

/** Hops that share a token. */
export function sellers(tokenIn: Hex, ...parts: [amountIn: bigint, step: Step][]): Hop[] {
  return parts.map(([amountIn, { venue, fee, tokenOut }]) => ({
    venue,
    fee,
    tokenIn,
    tokenOut,
    amountIn,
  }));
}

export const v2Hop = (tokenOut: Hex): Step => ({ venue: V2, fee: 0, tokenOut });
export const v3Hop = (tokenOut: Hex, fee = 500): Step => ({ venue: V3, fee, tokenOut });

export function swapData(args: Order): Hex {
  return encodeFunctionData({ abi: swapExecutorAbi, functionName: "swap", args: [args] });
}

export interface Swapped {
  user: Hex;
  tokenIn: Hex;
  tokenOut: Hex;
  amountIn: bigint;
  amountOut: bigint;
  fee: bigint;
}

export interface Done {
  event: Swapped;
  receipt: Receipt;
  gasUsed: number;
}

/** Sends the swap and reads its event. */
export async function swap(
  world: World,
  args: Order,
  { from = world.user, value = 0n, executor = world.executor } = {},
): Promise<Done> {
  const receipt = await world.send(from, executor, swapData(args), value);
  const log = receipt.logs.findLast(({ address }) => same(address, executor));
  if (!log) throw new Error("no event of the executor");
  const { args: event } = decodeEventLog({
    abi: swapExecutorAbi,
    eventName: "Swapped",
    topics: log.topics,
    data: log.data,
  });
  return { event, receipt, gasUsed: Number(receipt.gasUsed) };
}

/**
 * Name of the error with which the swap reverts, `Error(text)` for a pool's own message, or
 * "nothing" when it does not revert.
 */
export async function failure(
  world: World,
  args: Order,
  { from = world.user, value = 0n, executor = world.executor } = {},
): Promise<string> {
  try {
    await world.client.simulateContract({
      address: executor,
      abi: swapExecutorAbi,
      functionName: "swap",
      args: [args],
      account: from,
      value,
    });
    return "nothing";
  } catch (error) {
    return errorName(error);
  }
}

function errorName(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("data" in cause && cause.data && typeof cause.data === "object") {
      const { errorName: name, args } = cause.data as { errorName?: string; args?: unknown[] };
      if (name === "Error" || name === "Panic") return `${name}(${args?.[0]})`;
      if (name) return name;
    }
  }
  return String(error);
}

export function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Balances of all tokens and native of the accounts, for comparing before and after. */
export async function balances(world: World, ...accounts: Hex[]): Promise<bigint[]> {
  const reads: Promise<bigint>[] = [];
  for (const account of accounts) {
    reads.push(world.client.getBalance({ address: account }));
    for (const token of Object.values(world.tokens)) reads.push(world.balance(token, account));
  }
  return Promise.all(reads);
}
