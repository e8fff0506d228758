import { type Anvil, startAnvil } from "../../src/sandbox/anvil.ts";
import { accounts, testProcesses } from "../support/chain.ts";

/** Where the emitter's code lies. */
export const EMITTER = `0x${"e1".repeat(20)}`;
/** A second one with the same code. */
export const OTHER_EMITTER = `0x${"e2".repeat(20)}`;

/** Each call emits two logs: topics (1, n) and (2, n), n being the first word of the calldata. */
const CODE = "0x600035600160006000a2600035600260006000a200";

const MINING_TIMEOUT_MS = 10_000;

/** A number as a topic. */
export const word = (value: number): string => `0x${value.toString(16).padStart(64, "0")}`;

/** A chain of its own with contracts that emit logs on demand. */
export async function startEmittingChain(chainId: number) {
  const anvil = await startAnvil(testProcesses(), { chainId });
  for (const address of [EMITTER, OTHER_EMITTER]) {
    await anvil.rpc.call("anvil_setCode", [address, CODE]);
  }
  return {
    anvil,
    /** Emits two logs in a block of their own, and waits until it is mined. */
    async emit(n: number, to = EMITTER) {
      await mined(anvil, await send(anvil, n, to));
    },
    /** Gives the transaction to the node, for `inOneBlock`. */
    send: (n: number, to = EMITTER) => send(anvil, n, to),
    /** Mines everything given in one block. */
    async inOneBlock(work: () => Promise<unknown>) {
      await anvil.rpc.call("evm_setAutomine", [false]);
      try {
        await work();
        await anvil.rpc.call("evm_mine");
      } finally {
        await anvil.rpc.call("evm_setAutomine", [true]);
      }
    },
    head: async () => Number(await anvil.rpc.call("eth_blockNumber")),
    /** All logs the chain has now, from a block on. */
    logs: (fromBlock: number) =>
      anvil.rpc.call("eth_getLogs", [{ fromBlock: `0x${fromBlock.toString(16)}` }]) as Promise<
        Record<string, unknown>[]
      >,
  };
}

export type EmittingChain = Awaited<ReturnType<typeof startEmittingChain>>;

function send(anvil: Anvil, n: number, to: string): Promise<unknown> {
  const from = accounts.deployer.address;
  return anvil.rpc.call("eth_sendTransaction", [{ from, to, data: word(n), gas: "0x186a0" }]);
}

/** The node answers before it mines, and puts what comes meanwhile into the same block. */
async function mined(anvil: Anvil, hash: unknown): Promise<void> {
  const until = performance.now() + MINING_TIMEOUT_MS;
  while ((await anvil.rpc.call("eth_getTransactionReceipt", [hash])) === null) {
    if (performance.now() > until) throw new Error("the transaction was not mined");
  }
}
