import type { ChainRegistry } from "../chains/index.ts";
import { type Clock, type Random, systemClock } from "../lib/clock.ts";
import type { LogCapStore } from "../db/index.ts";
import { ApiError } from "../lib/errors.ts";
import { notAbortable, whenDone } from "../lib/whenDone.ts";
import { broadcast } from "./broadcast.ts";
import { Accounts } from "./accounts.ts";
import { ChainPool } from "./chainPool.ts";
import { cappedConnection, type Connect } from "./connection.ts";
import { ReadRun } from "./dispatch.ts";
import { ExternalPools } from "./external.ts";
import type { UrlGuard } from "./guard.ts";
import { connectHttp } from "./http/connect.ts";
import { createLineup } from "./lineup.ts";
import { linkNodes } from "./links.ts";
import { AnswerMemory } from "./memory.ts";
import { classOf } from "./methodClass.ts";
import type { UpstreamObserver } from "./observer.ts";
import { LogCaps } from "./logs/caps.ts";
import { readLogs } from "./logs/readLogs.ts";
import { AnswerCache } from "./reads/cache.ts";
import type { RangeReader } from "./reads/readFlight.ts";
import { ChainReader } from "./reads/reader.ts";
import { poolTransport } from "./transport.ts";
import {
  type CallOptions,
  type CallUnderWay,
  type ReplyTarget,
  type RpcCall,
  type RpcReply,
  type UpstreamPool,
  UpstreamUnavailableError,
  WrongChainError,
} from "./types.ts";

/** Time an external node is allowed per call: its caller waits for one node only, ms. */
const EXTERNAL_DEADLINE_MS = 8_000;

/** Memory of answers under way when the configuration names none: four answers of the largest size. */
const DEFAULT_MAX_BUFFERED_BYTES = 256 * 1024 * 1024;

/** Memory of answers that cannot change when the configuration names none. */
const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;

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
  /** Memory of all answers on their way to callers together, 256 MiB by default. */
  readonly maxBufferedBytes?: number;
  /** Memory of answers that cannot change, of all chains together, 64 MiB by default; 0: none. */
  readonly cacheMaxBytes?: number;
  /** Keeps what was learnt of upstreams' limits; without it, it is learnt again by each process. */
  readonly logCaps?: LogCapStore;
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
    maxBufferedBytes = DEFAULT_MAX_BUFFERED_BYTES,
  } = dependencies;
  const memory = new AnswerMemory(maxBufferedBytes);
  const shared = { clock, random, observer, memory };
  const accounts = new Accounts();
  const chains = new Map<number, ChainPool>();
  const readers = new WeakMap<ChainPool, ChainReader>();
  const cache = new AnswerCache(dependencies.cacheMaxBytes ?? DEFAULT_CACHE_BYTES);
  const external = new ExternalPools({
    guard: dependencies.guard ?? refuseAll,
    open: (chain, url, address) => {
      const open = () => cappedConnection(connect(url, address), EXTERNAL_MAX_BYTES);
      const nodes = linkNodes(chain.id, [{ url: url.href }], new Accounts(), open);
      return new ChainPool({ ...shared, chain, nodes, poll: false });
    },
  });

  const poolOf = (chainId: number): ChainPool => {
    const known = chains.get(chainId);
    if (known) return known;
    const chain = registry.byId(chainId);
    if (!chain) throw new UpstreamUnavailableError(`chain ${chainId} is not in the registry`);
    const nodes = linkNodes(chainId, chain.upstreams, accounts, connect);
    const onRollback = (head: number) => readers.get(pool)?.rollBack(head);
    const pool = new ChainPool({ ...shared, chain, nodes, poll: true, onRollback });
    chains.set(chainId, pool);
    if (chain.kind === "evm") {
      const caps = new LogCaps({ chainId, store: dependencies.logCaps, clock });
      const readRange: RangeReader = (read, view, options) =>
        readLogs(pool, caps, read, view, options);
      readers.set(pool, new ChainReader({ pool, chain, cache, clock, observer, readRange }));
    }
    return pool;
  };
  const start = (
    pool: ChainPool,
    call: RpcCall,
    options: Omit<CallOptions, "signal">,
    target: ReplyTarget,
  ): CallUnderWay => {
    const reader = readers.get(pool);
    if (classOf(call.method) === "broadcast") {
      const run = () => broadcast(pool, call, options);
      const sent = reader ? reader.aroundBroadcast(call, options.caller, run) : run();
      sent.then(
        (reply) => target.replied(reply),
        (error: unknown) => target.failed(error),
      );
      // A transaction that may have left cannot be taken back.
      return notAbortable;
    }
    if (reader) return reader.read(call, options, target);
    const run = new ReadRun(pool, call, options.deadlineMs, { method: call.method }, target);
    run.start();
    return run;
  };
  const send = (pool: ChainPool, call: RpcCall, options: CallOptions): Promise<RpcReply> =>
    // A broadcast is sent whoever has left meanwhile.
    whenDone(classOf(call.method) === "broadcast" ? undefined : options.signal, (replied, failed) =>
      start(pool, call, options, { replied, failed }),
    );
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
    call(chainId, call, options = {}) {
      try {
        return send(poolOf(chainId), call, options);
      } catch (error) {
        return Promise.reject(error);
      }
    },
    start(chainId, call, options, target) {
      return start(poolOf(chainId), call, options, target);
    },
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
    ...createLineup({ chainIds: registry.all.map(({ id }) => id), poolOf, accounts, connect }),
    memory,
    close() {
      for (const pool of chains.values()) pool.close();
      external.close();
    },
  };
}

const refuseAll: UrlGuard = {
  check: async () => {
    throw new ApiError("RPC_URL_REFUSED");
  },
};
