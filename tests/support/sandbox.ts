import { type Sandbox, startSandbox } from "../../src/sandbox/start.ts";
import { STATE_DIR } from "./chain.ts";
import { temporaryDirectory } from "./processes.ts";

export { accounts, type PreparedChain, startPreparedChain } from "./chain.ts";
export { temporaryDirectory } from "./processes.ts";
export type { Sandbox } from "../../src/sandbox/start.ts";

let shared: Promise<Sandbox> | undefined;

/**
 * The sandbox all tests of this process share: three chains with their forwarding nodes, the price
 * feeds, and the service when asked for. Its processes end with this one. A test that trades or
 * scripts faults takes a chain or a node of its own, or puts everything back.
 * @param options - service: also start `src/main.ts`; once started it stays
 */
export async function testSandbox(options: { readonly service?: boolean } = {}): Promise<Sandbox> {
  const sandbox = await (shared ??= startShared());
  if (options.service) await sandbox.startService();
  return sandbox;
}

async function startShared(): Promise<Sandbox> {
  const dir = temporaryDirectory();
  return startSandbox({ dir, stateDir: STATE_DIR, withService: false });
}
