import { join } from "node:path";
import { sandboxAccounts } from "../../src/sandbox/accounts.ts";
import {
  startPreparedChain as start,
  type PreparedChain,
} from "../../src/sandbox/preparedChain.ts";
import { testProcesses } from "./processes.ts";

export type { PreparedChain } from "../../src/sandbox/preparedChain.ts";
export { testProcesses } from "./processes.ts";

/** Prepared states, shared with `bun run sandbox`. */
export const STATE_DIR = join(import.meta.dir, "../../.sandbox/state");

/** Funded accounts of every prepared chain: deployer, operator, fee recipient and users. */
export const accounts = sandboxAccounts();

/**
 * A private chain with tokens, venues, pools and the executor deployed, for tests that trade.
 * Starts in well under a second once its state is on disk. Stop it in `afterAll`.
 * @param options - blockTimeSeconds: mine at this pace besides one block per transaction, so that a
 *   transaction the node left in its pool under load is mined all the same; null: only per transaction
 */
export function startPreparedChain(
  chainId = 5042,
  { blockTimeSeconds = 1 }: { readonly blockTimeSeconds?: number | null } = {},
): Promise<PreparedChain> {
  const pace = blockTimeSeconds === null ? {} : { blockTimeSeconds };
  return start(testProcesses(), { chainId, stateDir: STATE_DIR, ...pace });
}
