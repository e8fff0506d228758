import { join } from "node:path";
import { freePorts } from "./ports.ts";
import type { ProcessGroup } from "./processes.ts";

/** A forwarding node that runs as a process of its own. */
export interface NodeProcess {
  readonly url: string;
  /** Answers `/faults` and `/ledger`, also while the node is down. */
  readonly controlUrl: string;
  readonly pid: number;
}

const START_ATTEMPTS = 3;
const READY_TIMEOUT_MS = 10_000;

/**
 * Starts a forwarding node in front of a chain.
 * @param name - names its log
 * @param target - URL of the chain
 * @throws Error when no attempt came up
 */
export async function startNode(
  group: ProcessGroup,
  name: string,
  target: string,
): Promise<NodeProcess> {
  for (let attempt = 1; ; attempt++) {
    const [port, controlPort] = freePorts(2);
    const script = join(import.meta.dir, "node.ts");
    const child = group.spawn({
      name,
      command: [process.execPath, "--smol", script, target, String(port), String(controlPort)],
      env: { BUN_CONFIG_MAX_HTTP_REQUESTS: "4096" },
    });
    const controlUrl = `http://127.0.0.1:${controlPort}`;
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (child.running() && performance.now() < deadline) {
      if (await answers(`${controlUrl}/ledger`)) {
        return { url: `http://127.0.0.1:${port}`, controlUrl, pid: child.pid };
      }
      await Bun.sleep(10);
    }
    await child.stop(0);
    if (attempt === START_ATTEMPTS) throw new Error(`${name} did not start`);
  }
}

/** Whether a GET of the URL answers 200 within a second. */
export async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
