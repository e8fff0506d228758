import {
  BaseError,
  createPublicClient,
  HttpRequestError,
  type PublicClient,
  TimeoutError,
} from "viem";
import { ApiError } from "../lib/errors.ts";
import { type UpstreamPool, UpstreamUnavailableError } from "../upstream/types.ts";

/** Gives the client of a chain, made once; there are at most as many as the registry has chains. */
export type ChainClients = (chainId: number) => PublicClient;

/** viem clients over the upstream pool. No caching of the block number: quotes name their block. */
export function createChainClients(upstream: Pick<UpstreamPool, "transport">): ChainClients {
  const clients = new Map<number, PublicClient>();
  return (chainId) => {
    let client = clients.get(chainId);
    if (!client) {
      client = createPublicClient({ transport: upstream.transport(chainId), cacheTime: 0 });
      clients.set(chainId, client);
    }
    return client;
  };
}

/** Whether a chain call failed because no node answered, rather than by what a node said. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof UpstreamUnavailableError) return true;
  if (!(error instanceof BaseError)) return false;
  const cause = error.walk(
    (inner) =>
      inner instanceof UpstreamUnavailableError ||
      inner instanceof HttpRequestError ||
      inner instanceof TimeoutError,
  );
  return cause !== null;
}

/**
 * Waits for a chain read.
 * @throws ApiError `UPSTREAM_UNREACHABLE` when no node answered; other errors as they are
 */
export async function reading<Value>(read: Promise<Value>): Promise<Value> {
  try {
    return await read;
  } catch (error) {
    if (isUnreachable(error)) throw new ApiError("UPSTREAM_UNREACHABLE");
    throw error;
  }
}
