import type { Chain, ChainRegistry } from "../chains/index.ts";
import { type Clock, type Random, systemClock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import { broadcast } from "./broadcast.ts";
import { ChainPool, type NodeLink } from "./chainPool.ts";
import { cappedConnection, type Connect, connectHttp } from "./connection.ts";
import { dispatchRead } from "./dispatch.ts";
import { ExternalPools } from "./external.ts";
import type { UrlGuard } from "./guard.ts";
import { Pace } from "./limits.ts";
import { classOf } from "./methodClass.ts";
import type { UpstreamObserver } from "./observer.ts";
import { poolTransport } from "./transport.ts";
import {
  type CallOptions,
  type RpcCall,
  type RpcReply,
  type UpstreamPool,
  UpstreamUnavailableError,
  WrongChainError,
} from "./types.ts";

/** Time an external node is allowed per call: its caller waits for one node only, ms. */
const EXTERNAL_DEADLINE_MS = 8_000;

/** Largest answer read from a caller's node, which may be anyone's. */
const EXTERNAL_MAX_BYTES = 1_048_576;

export interface UpstreamPoolDependencies {
  readonly registry: ChainRegistry;
  /** Checks URLs given by callers; without it none is accepted. */
  readonly guard?: UrlGuard;
  readonly observer?: UpstreamObserver;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly connect?: Connect;
}

/**
 * Makes the pool of all chains of the registry. Nothing is sent before a chain's first call.
 */
export function createUpstreamPool(dependencies: UpstreamPoolDependencies): UpstreamPool {
  const {
    registry,
    observer = {},
    clock = systemClock,
    random = Math.random,
    connect = connectHttp,
  } = dependencies;
  const shared = { clock, random, observer };
  const chains = new Map<number, ChainPool>();
  const external = new ExternalPools({
    guard: dependencies.guard ?? refuseAll,
    open: (chain, url, address) => {
      const connection = cappedConnection(connect(url, address), EXTERNAL_MAX_BYTES);
      const pace = new Pace(undefined);
      const node = { name: url.host, connection, pace, maxConcurrent: undefined };
      return new ChainPool({ ...shared, chain, nodes: [node], poll: false });
    },
  });

  const poolOf = (chainId: number): ChainPool => {
    const known = chains.get(chainId);
    if (known) return known;
    const chain = registry.byId(chainId);
    if (!chain) throw new UpstreamUnavailableError(`chain ${chainId} is not in the registry`);
    const pool = new ChainPool({ ...shared, chain, nodes: linkNodes(chain, connect), poll: true });
    chains.set(chainId, pool);
    return pool;
  };
  const externalCall = async (
    chainId: number,
    url: string,
    call: RpcCall,
    options: CallOptions = {},
  ): Promise<RpcReply> => {
    const chain = registry.byId(chainId);
    if (!chain) throw new UpstreamUnavailableError(`chain ${chainId} is not in the registry`);
    if (chain.upstreams.some((upstream) => upstream.url === url)) {
      return send(poolOf(chainId), call, options);
    }
    const pool = await external.get(chain, url);
    try {
      return await send(pool, call, { deadlineMs: EXTERNAL_DEADLINE_MS, ...options });
    } catch (error) {
      if (!pool.upstreams.every(({ identity }) => identity === "wrong")) throw error;
      throw new WrongChainError(`the node does not serve chain ${chainId}`);
    }
  };

  return {
    call: async (chainId, call, options = {}) => send(poolOf(chainId), call, options),
    transport: (chainId) =>
      poolTransport(`chain ${chainId}`, async (call, signal) =>
        send(poolOf(chainId), call, signal ? { signal } : {}),
      ),
    externalTransport: (chainId, url) =>
      poolTransport(`external node of chain ${chainId}`, async (call, signal) =>
        externalCall(chainId, url, call, signal ? { signal } : {}),
      ),
    externalCall,
    head: (chainId) => chains.get(chainId)?.head,
    status: () => [...chains.values()].flatMap((pool) => pool.status()),
    close() {
      for (const pool of chains.values()) pool.close();
      external.close();
    },
  };
}

function send(pool: ChainPool, call: RpcCall, options: CallOptions): Promise<RpcReply> {
  return classOf(call.method) === "broadcast"
    ? broadcast(pool, call, options)
    : dispatchRead(pool, call, options);
}

/** Connects a chain's registry entries; names are hosts, numbered where several share one. */
function linkNodes(chain: Chain, connect: Connect): NodeLink[] {
  const paces = new Map<string, Pace>();
  const seen = new Map<string, number>();
  return chain.upstreams.map(({ url, account, requestsPerSecond, maxConcurrent }, index) => {
    const target = new URL(url);
    const count = (seen.get(target.host) ?? 0) + 1;
    seen.set(target.host, count);
    const key = account ?? `upstream ${index}`;
    const pace = paces.get(key) ?? new Pace(requestsPerSecond);
    paces.set(key, pace);
    return {
      name: count === 1 ? target.host : `${target.host}#${count}`,
      connection: connect(target),
      pace,
      maxConcurrent,
    };
  });
}

const refuseAll: UrlGuard = {
  check: async () => {
    throw new ApiError("RPC_URL_REFUSED");
  },
};
