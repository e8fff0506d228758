import { hex, simulate, type Simulation, type SimulationOptions } from "../reads/simulated.ts";

export const HEAD = 200_000;

/** Three nodes with limits of 1,000, 2,000 and 10,000 blocks. */
export function threeCaps(
  options: SimulationOptions = {},
  text?: (max: number) => string,
): Simulation {
  const sim = simulate({ lags: [() => 0, () => 0, () => 0], head: HEAD, ...options });
  // 100,000 real hashes per run would be most of its time.
  sim.chain.hash = hex;
  const caps = [1_000, 2_000, 10_000];
  for (const [index, node] of sim.nodes.entries()) {
    node.latencyMs = 2;
    node.logLimits = { maxBlocks: caps[index] ?? 0, ...(text && { text }) };
  }
  return sim;
}

/** A refusal that names no limit. */
export const mute = () => "block range is too wide";

export const range = (from: number, to: number) => ({ fromBlock: hex(from), toBlock: hex(to) });

export const blocksOf = (logs: unknown) =>
  (logs as { blockNumber: string }[]).map(({ blockNumber }) => Number(blockNumber));

export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Makes every node known, so that none is left out at the start. */
export async function ready(sim: Simulation): Promise<void> {
  await sim.ask("eth_blockNumber");
  while (sim.pool.status().some(({ state }) => state !== "active")) await Bun.sleep(1);
}

/** What one query did: which answers it got, and from how many requests. */
export async function query(sim: Simulation, from: number, to: number) {
  let refused = 0;
  const overrides = sim.nodes.map(({ override }) => override);
  for (const node of sim.nodes) {
    node.calls.length = 0;
    node.faults = 0;
    const { override } = node;
    const { maxBlocks = Number.POSITIVE_INFINITY } = node.logLimits;
    node.override = (method, params) => {
      if (method === "eth_getLogs" && sizeOf(params) > maxBlocks) refused++;
      return override?.(method, params);
    };
  }
  const logs = await sim.ask("eth_getLogs", [range(from, to)]);
  for (const [index, node] of sim.nodes.entries()) node.override = overrides[index];
  const faults = sim.nodes.reduce((sum, node) => sum + node.faults, 0);
  return { blocks: blocksOf(logs), requests: sim.count("eth_getLogs"), refused, faults };
}

function sizeOf([filter]: readonly unknown[]): number {
  const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
  return Number(toBlock) - Number(fromBlock) + 1;
}
