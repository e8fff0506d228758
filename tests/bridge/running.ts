import { type BridgeService, createBridge } from "../../src/bridge/index.ts";
import { createRegistry } from "../../src/chains/index.ts";
import { type ConfigFile, loadConfig } from "../../src/config/index.ts";
import { type Database, openDatabase } from "../../src/db/index.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { createUpstreamPool } from "../../src/upstream/index.ts";

/** What a process of the bridge is told of its world. */
export interface Surroundings {
  readonly configFile: ConfigFile;
  readonly operatorKeyFile: string;
}

export interface RunningBridge {
  readonly bridge: BridgeService;
  readonly database: Database;
  /** Settles when the transfer is in a final state. @throws after a while */
  finished(transactionHash: string): Promise<Awaited<ReturnType<BridgeService["status"]>>>;
  stop(): Promise<void>;
}

/** The bridge of one process over the world. */
export function startBridge(
  world: Surroundings,
  options: {
    readonly databaseUrl?: string;
    /** In place of one that is opened by its URL. */
    readonly database?: Database;
    readonly bridge?: ConfigFile["bridge"];
    readonly onEdge?: (edge: string, transferId: string) => void;
    /** Receives the ids of the transfers that are there already. */
    readonly others?: Set<string>;
    readonly worker?: boolean;
    readonly clock?: Clock;
  } = {},
): RunningBridge {
  const file = { ...world.configFile, bridge: { ...world.configFile.bridge, ...options.bridge } };
  const config = loadConfig(
    { CAUSEWAY_CONFIG: "test.json", OPERATOR_KEY_FILE: world.operatorKeyFile },
    () => JSON.stringify(file),
  );
  const registry = createRegistry(config.networks);
  const database =
    options.database ?? openDatabase((options.databaseUrl ?? ":memory:") as ":memory:");
  // The store answers at once on SQLite.
  const list = () => database.bridge.list({ limit: 1_000 }) as readonly { readonly id: string }[];
  if (options.others) for (const { id } of list()) options.others.add(id);
  const pool = createUpstreamPool({ registry });
  const bridge = createBridge({
    chains: registry,
    upstream: pool,
    store: database.bridge,
    config: config.bridge,
    log: silentLogger,
    metrics: createMetrics(),
    ...(options.onEdge && { onEdge: options.onEdge }),
    ...(options.clock && { clock: options.clock }),
  });
  if (options.worker !== false) bridge.start();
  return {
    bridge,
    database,
    async finished(transactionHash) {
      const deadline = performance.now() + 20_000;
      for (;;) {
        const status = await bridge.status(transactionHash);
        if (status.status === "completed" || status.status === "failed") return status;
        if (performance.now() > deadline) throw new Error(`stuck: ${JSON.stringify(status)}`);
        await Bun.sleep(15);
      }
    },
    async stop() {
      await bridge.stop();
      pool.close();
      database.close();
    },
  };
}
