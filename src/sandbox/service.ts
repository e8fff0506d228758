import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answers } from "./nodes.ts";
import type { Child, ProcessGroup } from "./processes.ts";

export interface ServiceOptions {
  /** Directory of the sandbox. */
  readonly dir: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly configFile: string;
  readonly adminToken: string;
  readonly operatorKeyFile: string;
}

/** The running service. */
export interface Service {
  readonly baseUrl: string;
  readonly child: Child;
}

const NAME = "service";
const READY_TIMEOUT_MS = 30_000;
const LOG_TAIL_LINES = 20;

/**
 * Starts the service itself on the local chains and waits until it says that it is ready.
 * @throws Error with the end of its log when it does not get there
 */
export async function startService(group: ProcessGroup, options: ServiceOptions): Promise<Service> {
  const child = group.spawn({
    name: NAME,
    command: [process.execPath, join(import.meta.dir, "../main.ts")],
    env: {
      HOST: "127.0.0.1",
      PORT: String(options.port),
      DATABASE_URL: options.databaseUrl,
      ADMIN_TOKEN: options.adminToken,
      CAUSEWAY_CONFIG: options.configFile,
      BUN_CONFIG_MAX_HTTP_REQUESTS: "16384",
      ...withoutSurroundings(),
      OPERATOR_KEY_FILE: options.operatorKeyFile,
    },
  });
  const baseUrl = `http://127.0.0.1:${options.port}`;
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (child.running() && performance.now() < deadline) {
    if (await answers(`${baseUrl}/ready`)) return { baseUrl, child };
    await Bun.sleep(25);
  }
  const state = child.running() ? "is not ready" : "ended";
  throw new Error(`the service ${state}; its log ends with:\n${logTail(options.dir)}`);
}

/** What the surrounding shell says about a real service, set to nothing. */
function withoutSurroundings(): Record<string, string> {
  const names = [
    "TLS_CERT",
    "TLS_KEY",
    "TRUSTED_PROXIES",
    "REDIS_URL",
    "KEY_PEPPER",
    "KEY_PEPPER_FILE",
  ];
  const upstreams = Object.keys(process.env).filter((name) => name.startsWith("UPSTREAMS_"));
  return Object.fromEntries([...names, ...upstreams].map((name) => [name, ""]));
}

function logTail(dir: string): string {
  const text = readFileSync(join(logDirectory(dir), `${NAME}.log`), "utf8");
  return text.trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
}

/** Where a sandbox keeps the output of its processes. */
export function logDirectory(dir: string): string {
  return join(dir, "logs");
}
