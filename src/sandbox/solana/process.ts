import { join } from "node:path";
import { answers } from "../nodes.ts";
import { freePort } from "../ports.ts";
import type { ProcessGroup } from "../processes.ts";

/** A running local Solana node. */
export interface SolanaNode {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const READY_TIMEOUT_MS = 15_000;

/**
 * Starts a prepared cluster on a free port and waits until it answers.
 * @throws Error when no attempt came up
 */
export async function startSolanaNode(group: ProcessGroup): Promise<SolanaNode> {
  for (let attempt = 1; ; attempt++) {
    const port = freePort();
    const child = group.spawn({
      name: "solana",
      command: [process.execPath, "--smol", join(import.meta.dir, "node.ts"), String(port)],
    });
    const url = `http://127.0.0.1:${port}`;
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (child.running() && performance.now() < deadline) {
      if ((await answers(`${url}/health`)) && child.running()) {
        return { url, pid: child.pid, stop: () => child.stop() };
      }
      await Bun.sleep(10);
    }
    await child.stop(0);
    if (attempt === START_ATTEMPTS) throw new Error("the Solana node did not start");
  }
}
