import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Access, createAccess } from "../../src/access/index.ts";
import { type ConfigFile, loadConfig } from "../../src/config/index.ts";
import { type Database, openDatabase } from "../../src/db/index.ts";
import { freePort } from "../../src/sandbox/ports.ts";

const READY_TIMEOUT_MS = 30_000;
/** Nothing listens there, so that no price source outside is asked. */
const NOWHERE = "http://127.0.0.1:9";
const PRICE_SOURCES = ["bitstamp", "coingecko", "defillama", "pyth", "coinbase", "kraken"];

/** The service as it is started in earnest, on a directory's database. */
export interface RealService {
  readonly origin: string;
  kill(): Promise<void>;
}

/**
 * Starts the service in a process of its own and waits until it is ready.
 * @param directory - holds the database, or will
 * @param nodes - by chain id: URL of the chain's only upstream
 */
export async function startRealService(
  directory: string,
  nodes: Readonly<Record<string, string>>,
): Promise<RealService> {
  const override = Object.fromEntries(
    Object.entries(nodes).map(([chainId, url]) => [chainId, { upstreams: [{ url }] }]),
  );
  const file: ConfigFile = {
    networks: { useDefaultUpstreams: false, override },
    prices: { baseUrls: Object.fromEntries(PRICE_SOURCES.map((id) => [id, NOWHERE])) },
  };
  const configFile = join(directory, "causeway.json");
  writeFileSync(configFile, JSON.stringify(file));
  const port = freePort();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts")], {
    env: {
      PATH: process.env["PATH"],
      PORT: String(port),
      DATABASE_URL: databaseUrl(directory),
      ADMIN_TOKEN: "an operator token of a test",
      CAUSEWAY_CONFIG: configFile,
      LOG_LEVEL: "fatal",
      BUN_CONFIG_MAX_HTTP_REQUESTS: "16384",
    },
    stdout: "ignore",
    stderr: "inherit",
  });
  const origin = `http://127.0.0.1:${port}`;
  const kill = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const answer = await fetch(`${origin}/ready`).catch(() => undefined);
    if (answer?.status === 200) return { origin, kill };
    await Bun.sleep(20);
  }
  await kill();
  throw new Error("the service did not start");
}

/** Opens the directory's database, as another process beside the service. */
export async function openLedger(
  directory: string,
): Promise<{ database: Database; access: Access }> {
  const database = await openDatabase(databaseUrl(directory));
  return { database, access: await createAccess(database, loadConfig({}).access) };
}

function databaseUrl(directory: string): string {
  return `file:${join(directory, "causeway.db")}`;
}
