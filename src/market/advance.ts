import { foldLogs, type PoolMap } from "./fold.ts";
import { violationOf } from "./invariants.ts";
import { parseLogs, type PoolLog, poolTopics } from "./logs.ts";
import type { BlockRef } from "./pool.ts";
import { NodeAnswerError, type PinnedReader, toHex } from "./reader.ts";

/** Blocks that are caught up with by their logs; beyond that, loading anew is cheaper. */
const MAX_GAP_BLOCKS = 500n;

/** All loaded pools of a chain at one block. */
export interface ChainState {
  readonly block: BlockRef;
  readonly pools: PoolMap;
}

/** A pool whose state cannot be true. */
export interface BrokenPool {
  readonly address: string;
  readonly rule: string;
}

/** How the chain's state moves to a new head. */
export type Advance =
  /** The head is the block we have, or the node that answered is behind it. */
  | { readonly kind: "same" }
  | {
      readonly kind: "moved";
      readonly state: ChainState;
      /** States to keep: the ancestors of the new one. */
      readonly history: readonly ChainState[];
      readonly undoneBlocks: number;
      readonly logs: number;
      readonly broken: readonly BrokenPool[];
    }
  /** Nothing of what we have can be carried to the head. */
  | { readonly kind: "reset"; readonly reason: string };

/**
 * Carries the state to `head`: by the logs of the blocks since, or from an older state where
 * blocks were replaced.
 * @param history - states of this chain in ascending order, the present one last; not empty
 */
export async function advance(
  reader: PinnedReader,
  history: readonly ChainState[],
  head: BlockRef,
): Promise<Advance> {
  const base = await commonBase(reader, history, head);
  if (base === "behind") return { kind: "same" };
  const state = history[base];
  const present = history.at(-1);
  if (!state || !present)
    return { kind: "reset", reason: "blocks beyond the history were replaced" };
  const gapBlocks = head.number - state.block.number;
  if (gapBlocks > MAX_GAP_BLOCKS) return { kind: "reset", reason: `${gapBlocks} blocks behind` };
  if (state === present && gapBlocks === 0n) return { kind: "same" };

  const logs = await logsSince(reader, state, head);
  if (!logs) return { kind: "reset", reason: `the logs of ${gapBlocks} blocks were refused` };
  const { pools, touched } = foldLogs(state.pools, logs);
  const broken = brokenAmong(pools, touched);
  return {
    kind: "moved",
    state: { block: head, pools: without(pools, broken) },
    history: gapBlocks === 0n ? history.slice(0, base) : history.slice(0, base + 1),
    undoneBlocks: Number(present.block.number - state.block.number),
    logs: logs.length,
    broken,
  };
}

/**
 * The newest state whose block the new head descends from.
 * @returns its position; -1 when there is none; `behind` when the node has yet to reach our block
 */
async function commonBase(
  reader: PinnedReader,
  history: readonly ChainState[],
  head: BlockRef,
): Promise<number | "behind"> {
  const last = history.length - 1;
  const present = history[last]?.block;
  if (!present) return -1;
  if (head.hash === present.hash || head.parentHash === present.hash) return last;
  const isCanonical = async ({ number, hash }: BlockRef): Promise<boolean> => {
    if (number >= head.number) return number === head.number && hash === head.hash;
    return (await reader.blockAt(number))?.hash === hash;
  };
  if (head.number < present.number) {
    // Only a node that is behind, as long as some node still has our block.
    if ((await reader.blockAt(present.number))?.hash === present.hash) return "behind";
  } else if (await isCanonical(present)) {
    return last;
  }
  // Of the older states, all up to some block are still on the chain: the last such is searched.
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const candidate = history[middle];
    if (candidate && (await isCanonical(candidate.block))) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * The pools' logs of the blocks after a state, up to the head.
 * @returns undefined when the nodes refuse the range
 * @throws NodeAnswerError when the head was replaced meanwhile
 */
async function logsSince(
  reader: PinnedReader,
  { block, pools }: ChainState,
  head: BlockRef,
): Promise<PoolLog[] | undefined> {
  if (pools.size === 0 || block.number === head.number) return [];
  const filter = { address: [...pools.keys()], topics: [poolTopics] };
  if (head.parentHash === block.hash) {
    try {
      return parseLogs(await reader.logs({ ...filter, blockHash: head.hash }));
    } catch (error) {
      if (!(error instanceof NodeAnswerError)) throw error;
    }
  }
  const range = { fromBlock: toHex(block.number + 1n), toBlock: toHex(head.number) };
  let logs: PoolLog[];
  try {
    logs = parseLogs(await reader.logs({ ...filter, ...range }));
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error;
    return undefined;
  }
  const isUnmoved =
    (await reader.blockAt(head.number))?.hash === head.hash &&
    (await reader.blockAt(block.number))?.hash === block.hash &&
    logs.every((log) => log.blockNumber !== head.number || log.blockHash === head.hash);
  if (!isUnmoved) throw new NodeAnswerError(`block ${head.number} was replaced`);
  return logs;
}

function brokenAmong(pools: PoolMap, addresses: Iterable<string>): BrokenPool[] {
  return [...addresses].flatMap((address) => {
    const pool = pools.get(address);
    const rule = pool && violationOf(pool);
    return rule === undefined ? [] : [{ address, rule }];
  });
}

function without(pools: PoolMap, broken: readonly BrokenPool[]): PoolMap {
  if (broken.length === 0) return pools;
  const kept = new Map(pools);
  for (const { address } of broken) kept.delete(address);
  return kept;
}
