import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConfigFile, UpstreamData } from "../../src/config/index.ts";
import { freePort } from "../../src/sandbox/ports.ts";
import type { Place } from "./machine.ts";
import type { Rig, RunningServer } from "./rig.ts";

/** A revision of the service to measure. */
export interface Source {
  readonly label: string;
  /** Root of a checkout with its dependencies installed. */
  readonly dir: string;
  /** Writes a CPU profile here when the service ends. */
  readonly profileDir?: string;
}

/** The running service with a key that has every scope and no window limit. */
export interface RunningService extends RunningServer {
  readonly label: string;
  readonly key: string;
  /** The process's Prometheus metrics as text. */
  metrics(): Promise<string>;
}

/**
 * Starts the service on a database and a configuration of its own, and makes a key.
 * @param options - script: of the source, in place of the service's own entry; env: beside what
 *   every service is given; place: the server's core by default; prepare: is given the database's
 *   file before the service starts
 */
export async function startService(
  rig: Rig,
  source: Source,
  config: ConfigFile,
  options: {
    readonly script?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly place?: Place;
    readonly prepare?: (databaseFile: string) => void;
  } = {},
): Promise<RunningService> {
  const { script = "src/main.ts", place = "server" } = options;
  const port = freePort();
  const dir = join(rig.dir, `service-${port}`);
  mkdirSync(dir);
  const configFile = join(dir, "causeway.json");
  writeFileSync(configFile, JSON.stringify(config));
  const databaseFile = join(dir, "causeway.db");
  const env = {
    ...withoutSurroundings(),
    HOST: "127.0.0.1",
    PORT: String(port),
    DATABASE_URL: `file:${databaseFile}`,
    ADMIN_TOKEN: "bench-operator-token",
    CAUSEWAY_CONFIG: configFile,
    LOG_LEVEL: "warn",
    BUN_CONFIG_MAX_HTTP_REQUESTS: "16384",
    ...options.env,
  };
  const key = makeKey(source, env);
  options.prepare?.(databaseFile);
  const profile = source.profileDir ? ["--cpu-prof", `--cpu-prof-dir=${source.profileDir}`] : [];
  const server = await rig.serve({
    name: `service-${port}`,
    place,
    command: [process.execPath, ...profile, join(source.dir, script)],
    port,
    probe: "/ready",
    env,
  });
  return {
    ...server,
    label: source.label,
    key,
    metrics: async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
  };
}

const KEY_COMMAND = "keys create --env test --scopes read,swaps,bridges,quotes --limit none --json";

/** Made by the revision's own command line, so that revisions may differ in how keys are kept. */
function makeKey(source: Source, env: Readonly<Record<string, string>>): string {
  const { stdout, stderr } = Bun.spawnSync(
    [process.execPath, join(source.dir, "src/cli.ts"), ...KEY_COMMAND.split(" ")],
    { cwd: source.dir, env: { ...process.env, ...env } },
  );
  try {
    return JSON.parse(String(stdout)).key;
  } catch {
    throw new Error(`no key could be made: ${stderr}`);
  }
}

/** What the surrounding shell says about a real service, set to nothing. */
function withoutSurroundings(): Record<string, string> {
  const names = [
    "TLS_CERT",
    "TLS_KEY",
    "TRUSTED_PROXIES",
    "REDIS_URL",
    "WORKERS",
    "OPERATOR_KEY_FILE",
  ];
  const upstreams = Object.keys(process.env).filter((name) => name.startsWith("UPSTREAMS_"));
  return Object.fromEntries([...names, ...upstreams].map((name) => [name, ""]));
}

/**
 * A configuration in which chain 5042 is served by these nodes and nothing else is reached.
 * @param upstream - what else their entries say
 */
export function nodesConfig(
  urls: readonly string[],
  upstream: Omit<UpstreamData, "url"> = {},
): ConfigFile {
  return {
    networks: {
      useDefaultUpstreams: false,
      override: { "5042": { upstreams: urls.map((url) => ({ url, ...upstream })) } },
    },
    balance: { allowedOrigins: [...urls] },
  };
}
