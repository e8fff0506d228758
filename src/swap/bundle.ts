import type { Address, Hex, PublicClient, StateOverride } from "viem";
import { ApiError } from "../lib/errors.ts";
import { isUnreachable } from "./clients.ts";
import { simulationError } from "./revert.ts";

/** One transaction of a bundle. */
export interface BundledCall {
  /** What it is, such as `swap`. */
  readonly name: string;
  readonly to: string;
  readonly data: string;
}

/**
 * Runs transactions of one wallet one after the other with `eth_simulateV1`, so that a swap sees
 * the approval before it.
 *
 * @returns gas the last one needs; undefined when the node does not know the method
 * @throws ApiError `SIMULATION_FAILED` naming the first that reverts, `UPSTREAM_UNREACHABLE`
 */
export async function estimateLast(
  client: PublicClient,
  owner: Address,
  bundle: readonly BundledCall[],
  stateOverrides: StateOverride,
): Promise<bigint | undefined> {
  const results = await simulate(client, owner, bundle, stateOverrides);
  if (results?.length !== bundle.length) return undefined;
  for (const [index, { status, data }] of results.entries()) {
    if (status === "failure") throw simulationError(bundle[index]?.name ?? "swap", { data });
  }
  const gasUsed = results.at(-1)?.gasUsed ?? 0n;
  // What was refunded has to be there first; refunds are at most a fifth of the gas (EIP-3529).
  return (gasUsed * 5n) / 4n;
}

async function simulate(
  client: PublicClient,
  owner: Address,
  bundle: readonly BundledCall[],
  stateOverrides: StateOverride,
) {
  try {
    const calls = bundle.map(({ to, data }) => ({
      account: owner,
      to: to as Address,
      data: data as Hex,
    }));
    const [block] = await client.simulateBlocks({ blocks: [{ calls, stateOverrides }] });
    return block?.calls;
  } catch (error) {
    if (isUnreachable(error)) throw new ApiError("UPSTREAM_UNREACHABLE");
    return undefined;
  }
}
