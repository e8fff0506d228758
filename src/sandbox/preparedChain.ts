import { type Anvil, startAnvil } from "./anvil.ts";
import type { Deployment } from "./deploy/chain.ts";
import { preparedState } from "./deploy/state.ts";
import type { ProcessGroup } from "./processes.ts";

/** A running chain with everything deployed. */
export interface PreparedChain extends Anvil {
  readonly deployment: Deployment;
}

export interface PreparedChainOptions {
  readonly chainId: number;
  /** Where prepared states are kept. */
  readonly stateDir: string;
  /** As in `AnvilOptions`. */
  readonly blockTimeSeconds?: number;
}

/** Starts a chain from its prepared state, and prepares that first where it must. */
export async function startPreparedChain(
  group: ProcessGroup,
  options: PreparedChainOptions,
): Promise<PreparedChain> {
  const { chainId, stateDir, ...pace } = options;
  const { stateFile, deployment } = await preparedState(group, chainId, stateDir);
  const anvil = await startAnvil(group, { chainId, stateFile, ...pace });
  return { ...anvil, deployment };
}
