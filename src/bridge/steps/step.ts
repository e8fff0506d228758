import type { Chain } from "../../chains/index.ts";
import type { BridgeStore, StoredTransaction, TransferChanges } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { AttestationClient } from "../attestation/client.ts";
import type { BridgeNetwork, Purpose, Settlement, Transfer } from "../network.ts";
import type { Pace } from "../pace.ts";
import { transition, type TransferEvent, type TransferState } from "../transition.ts";

/** A point a process may die at; tests do so on purpose. */
export type EdgeListener = (edge: string, transferId: string) => void;

export interface StepDependencies {
  readonly store: BridgeStore;
  readonly clock: Clock;
  readonly attestation: AttestationClient;
  /** @throws Error when the operator has no wallet for the network */
  readonly network: (chainId: number) => BridgeNetwork;
  readonly chain: (chainId: number) => Chain;
  /** A forwarder that has not minted for this long is not waited for any more. */
  readonly forwardTimeoutMs: number;
  readonly pace: { readonly chain: Pace; readonly attestation: Pace };
  /** Told of every state reached. */
  readonly onState: (transfer: Transfer, state: TransferState) => void;
  readonly onEdge: EdgeListener;
}

/** What a step came to. */
export type Outcome =
  | { readonly kind: "moved" }
  /** Nothing yet; look again after a pause. */
  | { readonly kind: "wait"; readonly changes?: TransferChanges; readonly pace?: Pace }
  /** No request was left for asking; look again soon. */
  | { readonly kind: "later" }
  /** Nothing to do before a moment, ms since the epoch. */
  | { readonly kind: "rest"; readonly untilMs: number };

/** Does what can be done for a transfer in one of its states. */
export type Step = (transfer: Transfer) => Promise<Outcome>;

export const MOVED: Outcome = { kind: "moved" };
export const LATER: Outcome = { kind: "later" };

/** What the steps write and send. */
export interface StepActions {
  /** Stores an event, the state it leads to and what belongs to it. */
  move(
    transfer: Transfer,
    event: TransferEvent,
    changes: TransferChanges,
    detail: Readonly<Record<string, unknown>>,
    transactions?: readonly StoredTransaction[],
  ): Promise<Outcome>;
  /** Gives the newest stored transaction of each purpose to the network. */
  send(transfer: Transfer, purposes: readonly Purpose[]): Promise<void>;
  /**
   * Signs again what the chain can no longer include, under nonces of its own. Of two processes
   * that do so at once, both get the same nonces and only one stores its transactions.
   * @param old - hash of the last of the transactions that are replaced
   */
  signAgain(
    transfer: Transfer,
    purposes: readonly Purpose[],
    old: string | undefined,
    sign: () => Promise<readonly StoredTransaction[]>,
    why: string,
  ): Promise<Outcome>;
}

/** The actions of this process's steps. */
export function createStepActions(deps: StepDependencies): StepActions {
  const { store, clock, onEdge } = deps;

  async function send(transfer: Transfer, purposes: readonly Purpose[]): Promise<void> {
    const network = deps.network(chainIdOf(transfer, purposes[0]));
    const all = await store.transactions(transfer.id);
    for (const purpose of purposes) {
      const newest = all.findLast((each) => each.purpose === purpose);
      if (newest) await network.broadcast(newest);
      onEdge(`${purpose} sent`, transfer.id);
    }
  }

  return {
    send,
    async move(transfer, event, changes, detail, transactions = []) {
      const to = transition(transfer.state, event);
      if (!to) throw new Error(`${event} cannot happen to a transfer that is ${transfer.state}`);
      const at = clock.now();
      const applied = await store.apply({
        id: transfer.id,
        from: transfer.state,
        to,
        event,
        at,
        changes: { attention: null, nextCheckAt: at, ...changes },
        transactions,
        detail,
      });
      if (applied) deps.onState(transfer, to);
      onEdge(`${event} stored`, transfer.id);
      return MOVED;
    },
    async signAgain(transfer, purposes, old, sign, why) {
      const all = await store.transactions(transfer.id);
      const replaced = all.find(({ hash }) => hash === old);
      if (replaced && replaced.nonce !== null) {
        const { nonce, chainId } = replaced;
        const nonces = purposes.map((_, index) => nonce - index);
        await store.spendNonces(transfer.id, chainId, nonces);
      }
      const transactions = await sign();
      const at = clock.now();
      await store.apply({
        id: transfer.id,
        from: transfer.state,
        to: transfer.state,
        event: "signedAgain",
        at,
        changes: { nextCheckAt: at },
        transactions,
        replacing: old,
        detail: { why, hashes: transactions.map(({ hash }) => hash) },
      });
      await send(transfer, purposes);
      return { kind: "wait" };
    },
  };
}

/** A wait with what the network says is in the way. */
export function waitFor(settled: Settlement): Outcome {
  const attention = settled.kind === "waiting" ? settled.attention : undefined;
  return attention ? { kind: "wait", changes: { attention } } : { kind: "wait" };
}

/** Hashes by purpose, for the audit record. */
export function hashesOf(
  transactions: readonly StoredTransaction[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(transactions.map(({ purpose, hash }) => [purpose, hash]));
}

function chainIdOf(transfer: Transfer, purpose: Purpose | undefined): number {
  return purpose === "mint" ? transfer.toChainId : transfer.fromChainId;
}
