import { join } from "node:path";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import type { RunningBridge, Surroundings } from "./running.ts";

/** How long a transfer may take on a machine that is busy with other things. */
const COMPLETED_WITHIN_MS = 60_000;

/**
 * Runs a process of the bridge that starts a transfer, until it dies at its edge.
 * @returns name of the signal it ended with
 */
export async function runUntilDeath(
  { configFile, operatorKeyFile }: Surroundings,
  databaseUrl: string,
  transfer: { readonly request: BridgeRequest; readonly dieAt: string },
): Promise<string> {
  const world = { configFile, operatorKeyFile };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "service.ts")], {
    stdin: new Blob([JSON.stringify({ world, databaseUrl, transfer })]),
    stdout: "ignore",
    stderr: "inherit",
    timeout: COMPLETED_WITHIN_MS,
  });
  await child.exited;
  return String(child.signalCode);
}

/** Waits until every transfer of a process's database is completed. @throws after a while */
export async function allCompleted({ database }: RunningBridge): Promise<void> {
  for (const { id } of await database.bridge.list({ limit: 1_000 })) {
    const deadline = performance.now() + COMPLETED_WITHIN_MS;
    for (;;) {
      const row = await database.bridge.find(id);
      if (row?.state === "completed") break;
      if (performance.now() > deadline) throw new Error(`${row?.state}: ${row?.attention}`);
      await Bun.sleep(20);
    }
  }
}
