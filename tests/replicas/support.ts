import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openKeyService, type NewKey } from "../../src/access/index.ts";
import { type ConfigFile, loadConfig } from "../../src/config/index.ts";
import { type Database, openDatabase } from "../../src/db/index.ts";
import { freePort } from "../../src/sandbox/ports.ts";
import type { Child } from "../../src/sandbox/processes.ts";
import { temporaryDirectory, testProcesses } from "../support/processes.ts";
import { newPostgres, newRedis } from "../support/storage.ts";
import type { PostgresServer, StorageServer } from "../support/storageServers.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const READY_TIMEOUT_MS = 60_000;

/** One process of the service, which can be ended and started again. */
export interface Replica {
  readonly origin: string;
  readonly child: () => Child;
  start(): Promise<void>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Ends it as an operator would. */
  stop(): Promise<void>;
  metric(name: string): Promise<number>;
}

/** Replicas of the service over Postgres and Redis servers of their own. */
export interface Cluster {
  readonly replicas: readonly Replica[];
  readonly database: Database;
  readonly databaseUrl: string;
  readonly postgres: PostgresServer;
  readonly redis: StorageServer;
  readonly environment: Readonly<Record<string, string>>;
  /** Writes what the replicas read as their config file. */
  writeConfig(config: ConfigFile): void;
  newKey(input?: Partial<NewKey>): Promise<{ id: string; secret: string }>;
  revoke(keyId: string): Promise<void>;
  /** Requests and units the ledger holds of a key. */
  ledger(keyId: string): Promise<{ requests: number; cu: number }>;
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly replicas: number;
  readonly config?: ConfigFile;
  readonly env?: Readonly<Record<string, string>>;
}

/** No node, feed or chain is reached unless the test says so. */
const QUIET: ConfigFile = { networks: { useDefaultUpstreams: false } };

/** Starts the servers and the replicas; close it in `afterAll`. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const [postgres, redis] = await Promise.all([newPostgres(), newRedis()]);
  const databaseUrl = await postgres.createDatabase();
  const configFile = join(temporaryDirectory(), "causeway.json");
  const writeConfig = (config: ConfigFile) => writeFileSync(configFile, JSON.stringify(config));
  writeConfig(options.config ?? QUIET);
  const environment = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url,
    KEY_PEPPER: "5a".repeat(32),
    ADMIN_TOKEN: "replica-test-token",
    CAUSEWAY_CONFIG: configFile,
    LOG_LEVEL: "warn",
    DRAIN_NOTICE_MS: "500",
    BUN_CONFIG_MAX_HTTP_REQUESTS: "4096",
    ...options.env,
  };
  const database = await openDatabase(databaseUrl);
  const keys = await openKeyService(database, loadConfig(environment).access.pepper);
  const replicas = Array.from({ length: options.replicas }, () => createReplica(environment));
  await Promise.all(replicas.map((replica) => replica.start()));
  return {
    replicas,
    database,
    databaseUrl,
    postgres,
    redis,
    environment,
    writeConfig,
    async newKey(input = {}) {
      const granted = { environment: "test" as const, scopes: ["read", "swaps"], ...input };
      const { key, secret } = await keys.create(granted, "test");
      return { id: key.id, secret };
    },
    revoke: (keyId) => keys.revoke(keyId, "test"),
    async ledger(keyId) {
      const rows = await database.usage.sums(keyId, 0, 10_000_000);
      return {
        requests: rows.reduce((sum, row) => sum + row.requests, 0),
        cu: rows.reduce((sum, row) => sum + row.cu, 0),
      };
    },
    async close() {
      database.close();
      await Promise.all(replicas.map((replica) => replica.kill()));
      await Promise.all([postgres.kill(), redis.kill()]);
    },
  };
}

/** A process of the service that is not started yet. */
export function createReplica(environment: Readonly<Record<string, string>>): Replica {
  const port = freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = { HOST: "127.0.0.1", PORT: String(port), ...environment };
  let child: Child | undefined;
  const running = () => {
    if (!child) throw new Error("the replica was not started");
    return child;
  };
  return {
    origin,
    child: running,
    async start() {
      child = testProcesses().spawn({
        name: `replica-${port}`,
        command: [process.execPath, MAIN],
        env,
      });
      await until(() => isReady(origin), `${origin} to be ready`);
    },
    async kill() {
      if (!child?.running()) return;
      process.kill(child.pid, "SIGKILL");
      await child.exited;
    },
    stop: () => running().stop(30_000),
    async metric(name) {
      const text = await (await fetch(`${origin}/metrics`)).text();
      const line = text.split("\n").find((one) => one.startsWith(`${name} `));
      return Number(line?.slice(name.length + 1) ?? Number.NaN);
    },
  };
}

/** Waits for a condition. @throws Error when it does not come to hold in time */
export async function until(
  condition: () => Promise<boolean> | boolean,
  what: string,
  timeoutMs = READY_TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await Bun.sleep(20);
  }
}

async function isReady(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/ready`)).ok;
  } catch {
    return false;
  }
}

/** The cheapest charged request. */
export const PATH = "/api/public/swap/dexes";

/** Sends a request and gives its status; 0 when there was no answer. */
export async function statusOf(origin: string, secret: string, path = PATH): Promise<number> {
  try {
    const response = await fetch(origin + path, { headers: { "x-api-key": secret } });
    await response.bytes();
    return response.status;
  } catch {
    return 0;
  }
}
