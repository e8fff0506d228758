import type { Session } from "../access/index.ts";
import type { Chain } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import type { AnswerMemory, Feeds } from "../upstream/index.ts";
import type { RpcService } from "./service.ts";
import { closings, RpcConnection } from "./wsConnection.ts";

export interface RpcSocketsOptions {
  readonly service: RpcService;
  readonly feeds: Feeds;
  readonly limits: Config["sockets"];
  /** Counts the answers that wait to be taken. */
  readonly memory: AnswerMemory;
  readonly clock?: Clock;
}

/** All WebSocket connections of the proxy. */
export interface RpcSockets {
  /**
   * Makes the connection a request is to be upgraded to.
   * @throws ApiError `TOO_MANY_SOCKETS`
   */
  accept(session: Session, chain: Chain): RpcConnection;
  /** Connections and subscriptions that are open. */
  counts(): { readonly sockets: number; readonly subscriptions: number };
  /** Tells every peer that the service is stopping, and accepts no more. */
  close(): void;
}

/** Makes the registry of connections; its watch runs while there are any. */
export function createRpcSockets(options: RpcSocketsOptions): RpcSockets {
  const { service, feeds, limits, memory, clock = systemClock } = options;
  const connections = new Set<RpcConnection>();
  const byKey = new Map<string, number>();
  let isClosed = false;
  let isWatching = false;

  const watch = async () => {
    isWatching = true;
    while (connections.size > 0) {
      await clock.sleep(limits.checkMs);
      // A check that fails, because the database is away, is made again.
      await Promise.allSettled(Array.from(connections, (connection) => connection.check()));
    }
    isWatching = false;
  };

  const count = (keyId: string, change: 1 | -1) => {
    const sum = (byKey.get(keyId) ?? 0) + change;
    if (sum === 0) byKey.delete(keyId);
    else byKey.set(keyId, sum);
  };

  return {
    accept(session, chain) {
      const { keyId } = session;
      if (isClosed || (byKey.get(keyId) ?? 0) >= limits.maxPerKey) {
        throw new ApiError("TOO_MANY_SOCKETS", undefined, { "retry-after": "1" });
      }
      const connection = new RpcConnection({
        service,
        session,
        chain,
        feeds: chain.kind === "evm" ? feeds.of(chain.id) : undefined,
        limits,
        memory,
        clock,
        onClosed() {
          if (connections.delete(connection)) count(keyId, -1);
        },
      });
      connections.add(connection);
      count(keyId, 1);
      if (!isWatching) void watch();
      return connection;
    },
    counts: () => ({
      sockets: connections.size,
      subscriptions: [...connections].reduce((sum, one) => sum + one.subscriptionCount, 0),
    }),
    close() {
      isClosed = true;
      for (const connection of connections) connection.end(closings.stopping);
    },
  };
}
