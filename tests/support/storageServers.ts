import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { RedisClient, SQL } from "bun";
import { freePort } from "../../src/sandbox/ports.ts";
import type { Child, ProcessGroup } from "../../src/sandbox/processes.ts";
import { postgresPrograms } from "./installed.ts";

const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/** A private server that can be ended and started again on the same port and data. */
export interface StorageServer {
  readonly url: string;
  readonly port: number;
  /** Ends it without a chance to tidy up, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again and waits until it answers. */
  start(): Promise<void>;
  /** Stops every thread of it where it is, and lets it go on. */
  freeze(): void;
  thaw(): void;
}

/** A Postgres server whose databases are made on demand. */
export interface PostgresServer extends StorageServer {
  /** Makes an empty database and gives its URL. */
  createDatabase(): Promise<string>;
}

/**
 * Starts a Redis server that keeps nothing on the disk.
 * @param dir - its working directory
 */
export async function startRedis(group: ProcessGroup, dir: string): Promise<StorageServer> {
  mkdirSync(dir, { recursive: true });
  const port = freePort();
  const url = `redis://127.0.0.1:${port}`;
  const options = `--port ${port} --bind 127.0.0.1 --dir ${dir} --appendonly no --daemonize no`;
  const server = controlled({
    group,
    name: `redis-${port}`,
    command: ["redis-server", ...options.split(" "), "--save", ""],
    async answers() {
      const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: 1_000 });
      try {
        await client.connect();
        return (await client.send("PING", [])) === "PONG";
      } finally {
        client.close();
      }
    },
  });
  await server.start();
  return { ...server, url, port };
}

/**
 * Starts a Postgres server on a cluster of its own.
 * @param dir - receives the cluster; must not exist yet
 * @param options - isDurable: what is committed survives a power cut too, which takes longer
 */
export async function startPostgres(
  group: ProcessGroup,
  dir: string,
  { isDurable = false }: { readonly isDurable?: boolean } = {},
): Promise<PostgresServer> {
  const programs = postgresPrograms();
  if (!programs) throw new Error("Postgres is not installed");
  const port = freePort();
  const user = makeOwned(dir);
  const data = join(dir, "data");
  run([
    ...user,
    join(programs, "initdb"),
    "-D",
    data,
    "-U",
    "causeway",
    "-A",
    "trust",
    "--no-sync",
  ]);
  const settings = Object.entries({
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: isDurable ? "on" : "off",
    max_connections: 200,
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = controlled({
    group,
    name: `postgres-${port}`,
    command: [...user, join(programs, "postgres"), "-D", data, ...settings],
    answers: () => query(port, "postgres", "SELECT 1"),
  });
  await server.start();
  let databases = 0;
  return {
    ...server,
    url: urlOf(port, "postgres"),
    port,
    async createDatabase() {
      const name = `test_${++databases}`;
      await query(port, "postgres", `CREATE DATABASE ${name}`);
      return urlOf(port, name);
    },
  };
}

/** Runs one statement on a connection of its own. */
async function query(port: number, database: string, statement: string): Promise<boolean> {
  const client = new SQL({ url: urlOf(port, database), max: 1, connectionTimeout: 5 });
  try {
    await client.unsafe(statement);
    return true;
  } finally {
    await client.close({ timeout: 0 });
  }
}

function urlOf(port: number, database: string): string {
  return `postgres://causeway@127.0.0.1:${port}/${database}`;
}

/** Postgres refuses to run as root. @returns words to put before a command */
function makeOwned(dir: string): string[] {
  mkdirSync(dir, { recursive: true });
  if (process.getuid?.() !== 0) return [];
  const [uid, gid] = ["-u", "-g"].map((kind) => Number(run(["id", kind, "postgres"])));
  if (uid === undefined || gid === undefined) throw new Error("there is no user postgres");
  chownSync(dir, uid, gid);
  // The directories of tests and the bench are for their owner only.
  for (let up = join(dir, ".."); up.includes("causeway-"); up = join(up, ".."))
    chmodSync(up, 0o755);
  return ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
}

function run(command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stdout}${stderr}`);
  return String(stdout).trim();
}

interface Controlled {
  readonly group: ProcessGroup;
  readonly name: string;
  readonly command: readonly string[];
  readonly answers: () => Promise<boolean>;
}

function controlled({ group, name, command, answers }: Controlled) {
  let child: Child | undefined;
  const signal = (kind: NodeJS.Signals) => {
    if (child?.running()) process.kill(child.pid, kind);
  };
  return {
    async start() {
      child = group.spawn({ name, command });
      const deadline = performance.now() + READY_TIMEOUT_MS;
      while (!(await answers().catch(() => false))) {
        if (performance.now() > deadline) throw new Error(`${name} did not start`);
        // A server that was just killed may hold its port or its lock for a moment.
        if (!child.running()) child = group.spawn({ name, command });
        await Bun.sleep(POLL_MS);
      }
    },
    async kill() {
      // Of Postgres this is the end of all its processes at once.
      signal(name.startsWith("postgres") ? "SIGQUIT" : "SIGKILL");
      await child?.exited;
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
  };
}
