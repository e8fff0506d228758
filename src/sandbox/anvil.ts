import { dirname } from "node:path";
import { MNEMONIC } from "./accounts.ts";
import { freePort } from "./ports.ts";
import type { Child, ProcessGroup } from "./processes.ts";
import { type NodeRpc, nodeRpc } from "./rpc.ts";

/** A running local chain. */
export interface Anvil {
  readonly chainId: number;
  readonly url: string;
  readonly pid: number;
  readonly rpc: NodeRpc;
  stop(): Promise<void>;
}

export interface AnvilOptions {
  readonly chainId: number;
  /** State file to start from, as written by the deployment. */
  readonly stateFile?: string;
  /** Mines a block at this pace besides one per transaction; left out: only one per transaction. */
  readonly blockTimeSeconds?: number;
}

const START_ATTEMPTS = 5;
const READY_TIMEOUT_MS = 15_000;
const PROBE_TIMEOUT_MS = 1_000;
/** Blocks whose state stays readable; each costs about 2 MB. */
const STATE_BLOCKS = 64;
/** Blocks whose transactions, receipts and logs stay readable. */
const TRANSACTION_BLOCKS = 20_000;

/**
 * Starts a chain on a free port and waits until it answers.
 * @throws Error when no attempt came up
 */
export async function startAnvil(group: ProcessGroup, options: AnvilOptions): Promise<Anvil> {
  for (let attempt = 1; ; attempt++) {
    const port = freePort();
    const child = group.spawn({
      name: `anvil-${options.chainId}-${port}`,
      command: [anvilBinary(), ...anvilArguments(options, port)],
    });
    const url = `http://127.0.0.1:${port}`;
    const rpc = nodeRpc(url);
    if (await waitUntilReady(url, child, options.chainId)) {
      // A loaded state's newest block is old; a fresh one makes `latest` carry the present time.
      if (options.stateFile) await rpc.call("evm_mine");
      return { chainId: options.chainId, url, pid: child.pid, rpc, stop: () => child.stop() };
    }
    await child.stop(0);
    if (attempt === START_ATTEMPTS) throw new Error(`chain ${options.chainId} did not start`);
  }
}

function anvilArguments(options: AnvilOptions, port: number): string[] {
  const args = ["--port", String(port), "--chain-id", String(options.chainId), "--quiet"];
  args.push("--mnemonic", MNEMONIC, "--balance", "1000000");
  args.push("--prune-history", String(STATE_BLOCKS));
  args.push("--transaction-block-keeper", String(TRANSACTION_BLOCKS));
  if (options.stateFile) args.push("--load-state", options.stateFile);
  if (options.blockTimeSeconds !== undefined) {
    args.push("--mixed-mining", "--block-time", String(options.blockTimeSeconds));
  }
  return args;
}

async function waitUntilReady(url: string, child: Child, chainId: number): Promise<boolean> {
  // Short, because whoever else may hold the port need not answer.
  const rpc = nodeRpc(url, PROBE_TIMEOUT_MS);
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (child.running() && performance.now() < deadline) {
    try {
      // Another chain id: the port was taken by someone else in the meantime.
      return Number(await rpc.call("eth_chainId")) === chainId && child.running();
    } catch {
      await Bun.sleep(10);
    }
  }
  return false;
}

/** The binary of this platform's package, which the `@foundry-rs/anvil` package depends on. */
function anvilBinary(): string {
  const arch = process.arch === "arm64" ? "arm64" : "amd64";
  const file = process.platform === "win32" ? "anvil.exe" : "anvil";
  const parent = dirname(Bun.resolveSync("@foundry-rs/anvil/package.json", import.meta.dir));
  return Bun.resolveSync(`@foundry-rs/anvil-${process.platform}-${arch}/bin/${file}`, parent);
}
