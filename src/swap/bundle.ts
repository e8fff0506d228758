import type { Address, Hex, PublicClient, StateOverride } from "viem";
import { ApiError } from "../lib/errors.ts";
import { isUnreachable } from "./clients.ts";
import { simulationError } from "./revert.ts";

/** Name of a call that only prepares the others; the wallet never sends it. */
export const FUNDING = "funding";

/** One transaction of a bundle. */
export interface BundledCall {
  /** What it is, such as `swap`. */
  readonly name: string;
  readonly from: Address;
  readonly to: string;
  readonly data: string;
}

/**
 * Runs transactions one after the other with `eth_simulateV1`, so that a swap sees the approval
 * before it.
 *
 * @returns gas the last one needs; undefined when the node does not know the method, or the funding
 *   fails
 * @throws ApiError `SIMULATION_FAILED` naming the first that reverts, `UPSTREAM_UNREACHABLE`
 */
export async function estimateLast(
  client: PublicClient,
  bundle: readonly BundledCall[],
  stateOverrides: StateOverride,
): Promise<bigint | undefined> {
  const results = await simulate(client, bundle, stateOverrides);
  if (results?.length !== bundle.length) return undefined;
  for (const [index, { status, data }] of results.entries()) {
    const name = bundle[index]?.name ?? "swap";
    if (status !== "failure") continue;
    if (name === FUNDING) return undefined;
    throw simulationError(name, { data });
  }
  const gasUsed = results.at(-1)?.gasUsed ?? 0n;
  // What was refunded has to be there first; refunds are at most a fifth of the gas (EIP-3529).
  return (gasUsed * 5n) / 4n;
}

async function simulate(
  client: PublicClient,
  bundle: readonly BundledCall[],
  stateOverrides: StateOverride,
) {
  try {
    const calls = bundle.map(({ from, to, data }) => ({
      account: from,
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
