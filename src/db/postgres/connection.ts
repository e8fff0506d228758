import { SQL } from "bun";
import { type BunSQLDatabase, drizzle } from "drizzle-orm/bun-sql";
import { systemClock } from "../../lib/clock.ts";
import * as schema from "./schema.ts";

export type Orm = BunSQLDatabase<typeof schema>;
/** A running transaction. */
export type Transaction = Parameters<Parameters<Orm["transaction"]>[0]>[0];

/** What the Postgres stores work with. Every statement has a deadline. */
export interface PostgresConnection {
  readonly orm: Orm;
  readonly client: SQL;
  /**
   * Runs what may run twice: reads, and writes that leave the same behind. While the server is
   * away, such as during a restart, it is tried again until a deadline.
   */
  repeatable<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Runs what must not run twice: tried again only as long as nothing reached the server. */
  once<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Like `once`, in a transaction. */
  transaction<Value>(work: (tx: Transaction) => Promise<Value>): Promise<Value>;
}

const MAX_CONNECTIONS = 10;
const CONNECT_TIMEOUT_SECONDS = 5;
/** One attempt may take this long, ms. */
const ATTEMPT_MS = 10_000;
/** A restart of the server is waited out this long, ms. */
const AWAY_MS = 25_000;
const RETRY_GAP_MS = 100;

/** The server cannot be reached, so it did nothing. */
const UNREACHED: ReadonlySet<string> = new Set([
  "ERR_POSTGRES_CONNECTION_REFUSED",
  "ERR_POSTGRES_CONNECTION_TIMEOUT",
  "57P03", // cannot_connect_now: it is starting or stopping
  "53300", // too_many_connections
]);
/** The connection broke: what was asked may have been done. */
const BROKEN: ReadonlySet<string> = new Set([
  "ERR_POSTGRES_CONNECTION_CLOSED",
  "ERR_POSTGRES_IDLE_TIMEOUT",
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "08006", // connection_failure
]);
/** The server undid the transaction and asks for another attempt. */
const UNDONE: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** Session settings: a dead client is noticed within seconds, and no statement runs for ever. */
const SESSION = {
  application_name: "causeway",
  statement_timeout: String(ATTEMPT_MS),
  tcp_keepalives_idle: "3",
  tcp_keepalives_interval: "1",
  tcp_keepalives_count: "3",
};

/** Opens a pool; nothing is sent before the first statement. */
export function openPool(url: string, maxConnections = MAX_CONNECTIONS): SQL {
  return new SQL({
    url,
    max: maxConnections,
    idleTimeout: 0,
    connectionTimeout: CONNECT_TIMEOUT_SECONDS,
    connection: SESSION,
  });
}

/** Wraps a pool into what the stores work with. */
export function connectPostgres(client: SQL): PostgresConnection {
  const orm = drizzle(client, { schema });
  return {
    orm,
    client,
    repeatable: (work) => repeat(work, (code) => isUndone(code) || BROKEN.has(code)),
    once,
    transaction: (work) => once(() => orm.transaction(work)),
  };
}

function once<Value>(work: () => Promise<Value>): Promise<Value> {
  return repeat(work, isUndone);
}

/** Runs work again until it succeeds, fails in a way that may not be repeated, or too long. */
async function repeat<Value>(
  work: () => Promise<Value>,
  mayRepeat: (code: string) => boolean,
): Promise<Value> {
  const giveUpAt = systemClock.monotonic() + AWAY_MS;
  for (;;) {
    try {
      return await withinDeadline(work);
    } catch (error) {
      if (!mayRepeat(codeOf(error)) || systemClock.monotonic() > giveUpAt) throw error;
      await systemClock.sleep(RETRY_GAP_MS);
    }
  }
}

/**
 * Postgres' own limit ends slow statements; this ends waiting for a server that fell silent.
 * @throws Error when it did
 */
export async function withinDeadline<Value>(work: () => Promise<Value>): Promise<Value> {
  const silent = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => silent.reject(new Error("Postgres does not answer")),
    ATTEMPT_MS + CONNECT_TIMEOUT_SECONDS * 1_000,
  );
  try {
    return await Promise.race([work(), silent.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the server did nothing. */
function isUndone(code: string): boolean {
  return UNREACHED.has(code) || UNDONE.has(code);
}

/** The error's SQLSTATE, or the client's own code; empty for any other error. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { errno, code } = cause as { errno?: unknown; code?: unknown };
    if (typeof errno === "string") return errno;
    if (typeof code === "string") return code;
  }
  return "";
}
