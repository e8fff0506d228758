import { join } from "node:path";
import type { ConfigFile } from "../../src/config/index.ts";
import { serviceConfig } from "../../src/sandbox/configFile.ts";
import { type PreparedChain, startPreparedChain } from "../../src/sandbox/preparedChain.ts";
import { moveTo } from "./machine.ts";
import type { Rig } from "./rig.ts";

const STATE_DIR = join(import.meta.dir, "../../.sandbox/state");

/** One of the sandbox's local chains with real DEX contracts, on the load's cores. */
export async function startChain(
  rig: Rig,
  chainId = 5042,
): Promise<{ readonly chain: PreparedChain; readonly config: ConfigFile }> {
  const chain = await startPreparedChain(rig.group, { chainId, stateDir: STATE_DIR });
  moveTo("load", chain.pid);
  const node = { url: chain.url, controlUrl: chain.url, pid: chain.pid };
  return { chain, config: serviceConfig([{ chain, nodes: [node] }], []) };
}
