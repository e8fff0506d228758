import { RedisClient } from "bun";
import { systemClock } from "../../lib/clock.ts";

/** A Redis server that comes and goes. */
export interface RedisLink {
  /** Whether commands are sent now. */
  readonly isUp: boolean;
  /**
   * Sends a command.
   * @throws Error at once while the server is away, and when it goes away before it has answered
   */
  send(command: string, args: readonly string[]): Promise<unknown>;
  /** Connects, and from now on again whenever the connection is lost. Resolves after one attempt. */
  start(): Promise<void>;
  close(): void;
}

export interface RedisLinkOptions {
  readonly url: string;
  /** Prepares each new connection before it is used. */
  readonly prepare?: (client: RedisClient) => Promise<void>;
  /** Told when the server came or went, and why. */
  readonly onChange?: (isUp: boolean, reason: string) => void;
}

const CONNECT_TIMEOUT_MS = 1_000;
const RETRY_GAP_MS = 250;
/** The server is asked for a sign of life this often, and given up without one. */
const BEAT_MS = 250;
const SILENCE_MS = 1_000;

/**
 * A link to Redis. Every connection is a fresh client: one that reconnects by itself neither
 * subscribes again nor says that it was away. A heartbeat bounds how long a server that fell silent
 * is waited for; giving the connection up ends every command under way.
 */
export function createRedisLink(options: RedisLinkOptions): RedisLink {
  const { url, prepare, onChange = () => {} } = options;
  const stopping = new AbortController();
  let current: RedisClient | undefined;
  let lastReason = "";

  /** @throws Error when there is no server, or it does not answer in time */
  async function connect(): Promise<RedisClient> {
    const client = new RedisClient(url, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: CONNECT_TIMEOUT_MS,
    });
    try {
      await client.connect();
      await inTime(Promise.all([client.send("PING", []), prepare?.(client)]));
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  async function attempt(): Promise<boolean> {
    try {
      const client = await connect();
      if (stopping.signal.aborted) {
        client.close();
        return false;
      }
      current = client;
      onChange(true, "connected");
      return true;
    } catch (error) {
      lose(error);
      return false;
    }
  }

  function lose(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const isNews = current !== undefined || reason !== lastReason;
    current?.close();
    current = undefined;
    lastReason = reason;
    if (isNews && !stopping.signal.aborted) onChange(false, reason);
  }

  /** Keeps the link up until it is closed. */
  async function keep(): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      await systemClock.sleep(current ? BEAT_MS : RETRY_GAP_MS, signal);
      if (!current) await attempt();
      else await inTime(current.send("PING", [])).catch(lose);
    }
  }

  return {
    get isUp() {
      return current !== undefined;
    },
    async send(command, args) {
      const client = current;
      if (!client) throw new Error("Redis is away");
      try {
        return await client.send(command, [...args]);
      } catch (error) {
        // A command that was refused leaves the connection as it is; a broken one is replaced.
        if (client === current && !client.connected) lose(error);
        throw error;
      }
    },
    async start() {
      await attempt();
      // Sleeping ends with an error when the link is closed, which is how the loop ends.
      void keep().catch(() => undefined);
    },
    close() {
      stopping.abort();
      current?.close();
      current = undefined;
    },
  };
}

async function inTime<Value>(work: Promise<Value>): Promise<Value> {
  const silent = Promise.withResolvers<never>();
  const timer = setTimeout(() => silent.reject(new Error("Redis does not answer")), SILENCE_MS);
  try {
    return await Promise.race([work, silent.promise]);
  } finally {
    clearTimeout(timer);
  }
}
