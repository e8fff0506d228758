import { type Address, encodeFunctionData, type Hex } from "viem";
import { type Chain, sameAddress, type Venue } from "../chains/index.ts";
import { swapExecutorAbi } from "../contracts/index.ts";
import { ApiError } from "../lib/errors.ts";
import { checksummed } from "../market/index.ts";
import type { ChainClients } from "./clients.ts";
import { ReadBatch } from "./multicall.ts";
import type { PricedHop } from "./quoteSource.ts";

/** SwapExecutor.MAX_VENUES. */
const MAX_VENUES = 6;

/** The executor of one chain and the venues it was deployed with. */
export interface Executor {
  readonly address: Address;
  /** Index by which the executor knows a venue; undefined when it does not. */
  venueIndex(venue: Venue): number | undefined;
}

/** Finds a chain's executor. @throws ApiError `EXECUTOR_NOT_DEPLOYED`, `UPSTREAM_UNREACHABLE` */
export type FindExecutor = (chain: Chain) => Promise<Executor>;

interface TableEntry {
  readonly factory: Address;
  readonly initCodeHash: Hex;
  readonly kind: number;
  readonly feeBps: number;
}

/**
 * Reads each executor's venue table from its contract, once: the table is fixed at deployment.
 * A missing executor is looked for again on every call. Holds one entry per chain.
 */
export function createExecutorFinder(clients: ChainClients): FindExecutor {
  const found = new Map<number, Executor>();
  return async (chain) => {
    const known = found.get(chain.id);
    if (known) return known;
    if (!chain.executor) throw new ApiError("EXECUTOR_NOT_DEPLOYED");
    const address = checksummed(chain.executor);
    const table = await readTable(clients, chain, address);
    if (!table) throw new ApiError("EXECUTOR_NOT_DEPLOYED");
    const executor = { address, venueIndex: (venue: Venue) => indexIn(table, venue) };
    found.set(chain.id, executor);
    return executor;
  };
}

async function readTable(
  clients: ChainClients,
  chain: Chain,
  address: Address,
): Promise<TableEntry[] | undefined> {
  const batch = new ReadBatch();
  const contract = { address, abi: swapExecutorAbi } as const;
  const count = batch.add({ ...contract, functionName: "venueCount", args: [] });
  const venues = Array.from({ length: MAX_VENUES }, (_, index) =>
    batch.add({ ...contract, functionName: "venue", args: [BigInt(index)] }),
  );
  await batch.send(clients(chain.id), chain);
  if (count() === undefined) return undefined;
  return venues
    .map((venue) => venue())
    .filter((venue) => venue !== undefined)
    .map(([factory, initCodeHash, kind, feeBps]) => ({ factory, initCodeHash, kind, feeBps }));
}

function indexIn(table: readonly TableEntry[], venue: Venue): number | undefined {
  const index = table.findIndex(
    (entry) =>
      sameAddress(entry.factory, venue.factory) &&
      sameAddress(entry.initCodeHash, venue.initCodeHash) &&
      entry.kind === (venue.type === "v2" ? 2 : 3) &&
      (venue.feeBps === undefined || entry.kind === 3 || entry.feeBps === venue.feeBps),
  );
  return index === -1 ? undefined : index;
}

/** One order. Amounts in atomic units, `deadline` in unix seconds. */
export interface SwapOrder {
  /** As named: the sentinel for the native asset. */
  readonly inputToken: Address;
  readonly outputToken: Address;
  readonly amountIn: bigint;
  /** After the platform fee. */
  readonly minAmountOut: bigint;
  readonly deadline: bigint;
  readonly platformFeeBps: number;
  /** In the order in which they were priced. */
  readonly hops: readonly PricedHop[];
}

/**
 * Calldata of `SwapExecutor.swap`.
 * @throws ApiError `EXECUTOR_NOT_DEPLOYED` when the executor does not know a pool's venue
 */
export function encodeSwap(executor: Executor, order: SwapOrder): Hex {
  const { amountIn, minAmountOut, deadline } = order;
  const hops = order.hops.map((hop) => ({
    venue: indexOf(executor, hop.venue),
    fee: hop.venue.type === "v2" ? 0 : hop.feePips,
    tokenIn: hop.tokenIn,
    tokenOut: hop.tokenOut,
    amountIn: hop.amountIn,
  }));
  return encodeFunctionData({
    abi: swapExecutorAbi,
    functionName: "swap",
    args: [
      {
        tokenIn: order.inputToken,
        tokenOut: order.outputToken,
        amountIn,
        minAmountOut,
        deadline,
        feeBps: order.platformFeeBps,
        hops,
      },
    ],
  });
}

function indexOf(executor: Executor, venue: Venue): number {
  const index = executor.venueIndex(venue);
  if (index !== undefined) return index;
  throw new ApiError(
    "EXECUTOR_NOT_DEPLOYED",
    `The swap executor on this chain does not know ${venue.id}`,
  );
}
