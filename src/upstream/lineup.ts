import type { UpstreamData } from "../config/index.ts";
import type { Accounts } from "./accounts.ts";
import type { ChainPool } from "./chainPool.ts";
import type { Connect } from "./connection.ts";
import { linkNodes } from "./links.ts";
import {
  type UpstreamPool,
  UpstreamRefusedError,
  type UpstreamStatus,
  UpstreamUnavailableError,
} from "./types.ts";
import { upstreamId } from "./upstreamId.ts";

export interface LineupOptions {
  readonly chainIds: readonly number[];
  /** @throws UpstreamUnavailableError for a chain that is not in the registry */
  readonly poolOf: (chainId: number) => ChainPool;
  readonly accounts: Accounts;
  readonly connect: Connect;
}

/** Upstreams of running chains: which there are, and changes to them. */
export function createLineup(
  options: LineupOptions,
): Pick<UpstreamPool, "status" | "attach" | "drain" | "remove"> {
  const { accounts, chainIds, connect } = options;
  const pools = () => chainIds.map((chainId) => options.poolOf(chainId));
  /** Ids being attached, so that one is not attached twice at the same time. */
  const arriving = new Set<string>();

  const poolOf = (chainId: number): ChainPool => {
    try {
      return options.poolOf(chainId);
    } catch (error) {
      if (!(error instanceof UpstreamUnavailableError)) throw error;
      throw new UpstreamRefusedError("unknown-chain");
    }
  };
  const arrive = async (chainId: number, upstream: UpstreamData): Promise<UpstreamStatus> => {
    const pool = poolOf(chainId);
    const [node] = linkNodes(chainId, [upstream], accounts, connect, pool.names);
    if (!node) throw new UpstreamRefusedError("silent");
    const status = await pool.attach(node);
    if (status.state === "active") return status;
    throw new UpstreamRefusedError(status.state === "wrong-chain" ? "wrong-chain" : "silent");
  };

  return {
    status: () => pools().flatMap((pool) => pool.status()),
    async attach(chainId, upstream) {
      const id = upstreamId(chainId, upstream.url);
      const listed = poolOf(chainId)
        .status()
        .find((one) => one.id === id);
      if (arriving.has(id) || (listed && listed.state !== "draining")) {
        throw new UpstreamRefusedError("attached-already");
      }
      arriving.add(id);
      try {
        const status = await arrive(chainId, upstream);
        // The one that was drained before is replaced by the one that came back.
        if (listed) void poolOf(chainId).discard(id);
        return status;
      } finally {
        arriving.delete(id);
      }
    },
    drain: (id) => pools().some((pool) => pool.drain(id) !== undefined),
    async remove(id) {
      for (const pool of pools()) if (await pool.remove(id)) return true;
      return false;
    },
  };
}
