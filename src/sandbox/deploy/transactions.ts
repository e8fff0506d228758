import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex, toHex } from "viem";
import type { NodeRpc } from "../rpc.ts";
import type { Artifact } from "./artifacts.ts";

/** A contract whose address is known, though it may not be deployed yet. */
export interface Contract extends Artifact {
  readonly address: Hex;
}

/**
 * Transactions of one account in the order of their nonces. Addresses of contracts follow from the
 * nonces, so that a whole deployment is written down first and sent at once.
 */
export interface TransactionList {
  deploy(label: string, artifact: Artifact, args?: readonly unknown[]): Contract;
  call(contract: Contract, functionName: string, args: readonly unknown[], value?: bigint): void;
  /** Adds ready-made calldata. */
  send(label: string, to: Hex, data: Hex): void;
  /**
   * Sends everything, one block per transaction.
   * @throws Error naming the first transaction that failed
   */
  submit(rpc: NodeRpc): Promise<void>;
}

interface Entry {
  readonly label: string;
  readonly to?: Hex;
  readonly data: Hex;
  readonly value: bigint;
}

const GAS_LIMIT = toHex(29_000_000);
const MINING_TIMEOUT_MS = 60_000;
const MINING_GRACE_MS = 250;
const GAS_PRICE = toHex(2_000_000_000);

/**
 * An empty list.
 * @param from - account the node holds unlocked, with nonce 0
 */
export function createTransactionList(from: Hex): TransactionList {
  const entries: Entry[] = [];
  const add = (entry: Entry) => entries.push(entry) - 1;
  return {
    deploy(label, { abi, bytecode }, args = []) {
      const data = encodeDeployData({ abi, bytecode, args: [...args] });
      const nonce = add({ label: `deploy ${label}`, data, value: 0n });
      return { abi, bytecode, address: getContractAddress({ from, nonce: BigInt(nonce) }) };
    },
    call({ abi, address }, functionName, args, value = 0n) {
      const data = encodeFunctionData({ abi, functionName, args: [...args] });
      add({ label: `${functionName} of ${address}`, to: address, data, value });
    },
    send(label, to, data) {
      add({ label, to, data, value: 0n });
    },
    async submit(rpc) {
      const hashes: unknown[] = [];
      for (const { to, data, value } of entries) {
        const nonce = toHex(hashes.length);
        const cost = { value: toHex(value), gas: GAS_LIMIT, gasPrice: GAS_PRICE };
        const transaction = { from, ...(to && { to }), data, nonce, ...cost };
        hashes.push(await rpc.call("eth_sendTransaction", [transaction]));
      }
      await waitUntilMined(rpc, hashes.at(-1));
      const receipts = await rpc.batch(
        hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
      );
      for (const [index, receipt] of receipts.entries()) {
        const { status } = (receipt ?? {}) as { status?: string };
        if (status !== "0x1") throw new Error(`${entries[index]?.label}: failed on chain`);
      }
    },
  };
}

/** Waits until a transaction has a receipt. */
export async function waitUntilMined(rpc: NodeRpc, hash: unknown): Promise<void> {
  const startMs = performance.now();
  while ((await rpc.call("eth_getTransactionReceipt", [hash])) === null) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > MINING_TIMEOUT_MS) throw new Error(`transaction ${hash} was not mined`);
    await Bun.sleep(10);
    // Under load the node now and then leaves the last transaction in its pool.
    if (waitedMs > MINING_GRACE_MS) await rpc.call("evm_mine");
  }
}
