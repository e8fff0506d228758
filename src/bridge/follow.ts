import type { Hex } from "viem";
import type { Chain } from "../chains/index.ts";
import type { BridgeStore, StoredTransaction, TransferChanges } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import type { AttestedMessage } from "./attestation/answer.ts";
import type { AttestationClient } from "./attestation/client.ts";
import { decodeMessage } from "./message.ts";
import { checkMessage, type ExpectedMessage } from "./messageCheck.ts";
import type { Attested, BridgeNetwork, Purpose, Settlement, Transfer } from "./network.ts";
import { pauseMs, type Pace } from "./pace.ts";
import { isFinal, transition, type TransferEvent, type TransferState } from "./transition.ts";
import { addressWord, cctpOf } from "./words.ts";

/** A point a process may die at; tests do so on purpose. */
export type EdgeListener = (edge: string, transferId: string) => void;

export interface FollowDependencies {
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

/** Brings transfers forward, one step after the other, from whatever their row says. */
export interface Follower {
  /**
   * Does what can be done for a transfer now. Two calls for the same transfer are one.
   * @throws when a node or the database fails; the row says where to go on
   */
  drive(id: string): Promise<void>;
  /** As `drive`, until the first transactions were given to the network: no block is waited for. */
  launch(id: string): Promise<void>;
}

/** What a step came to. */
type Outcome =
  | { readonly kind: "moved" }
  /** Nothing yet; look again after a pause. */
  | { readonly kind: "wait"; readonly changes?: TransferChanges; readonly pace?: Pace }
  /** No request was left for asking; look again soon. */
  | { readonly kind: "later" };

/** More steps than a transfer has, so that a fault here cannot loop for ever. */
const MAX_STEPS = 32;
/** Pause of a transfer for which no request was left. */
const LATER_MS = 250;
const MOVED: Outcome = { kind: "moved" };
const LATER: Outcome = { kind: "later" };

/** See README.md beside this file for the states and what holds in each. */
export function createFollower(deps: FollowDependencies): Follower {
  const { store, clock, attestation, onEdge } = deps;
  const running = new SingleFlight<void>();

  async function move(
    transfer: Transfer,
    event: TransferEvent,
    changes: TransferChanges,
    detail: Readonly<Record<string, unknown>>,
    transactions: readonly StoredTransaction[] = [],
  ): Promise<Outcome> {
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
  }

  async function send(transfer: Transfer, purposes: readonly Purpose[]): Promise<void> {
    const network = deps.network(chainIdOf(transfer, purposes[0]));
    const all = await store.transactions(transfer.id);
    for (const purpose of purposes) {
      const newest = all.findLast((each) => each.purpose === purpose);
      if (newest) await network.broadcast(newest);
      onEdge(`${purpose} sent`, transfer.id);
    }
  }

  /**
   * Signs again what the chain can no longer include, under nonces of its own. Of two processes
   * that do so at once, both get the same nonces and only one stores its transactions.
   * @param old - hash of the last of the transactions that are replaced
   */
  async function signAgain(
    transfer: Transfer,
    purposes: readonly Purpose[],
    old: string | undefined,
    sign: () => Promise<readonly StoredTransaction[]>,
    why: string,
  ): Promise<Outcome> {
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
  }

  const signBurn = (transfer: Transfer) => {
    const { domain } = cctpOf(deps.chain(transfer.toChainId));
    return deps.network(transfer.fromChainId).signBurn(transfer, domain);
  };

  async function startBurn(transfer: Transfer): Promise<Outcome> {
    const transactions = await signBurn(transfer);
    const hash = transactions.at(-1)?.hash ?? null;
    const changes = transfer.transactionHash === null ? { transactionHash: hash } : {};
    onEdge("burn signed", transfer.id);
    return move(transfer, "burnSigned", changes, hashesOf(transactions), transactions);
  }

  async function startPull(transfer: Transfer): Promise<Outcome> {
    const transactions = await deps.network(transfer.fromChainId).signPull(transfer);
    const changes = { transactionHash: transactions.at(-1)?.hash ?? null };
    onEdge("pull signed", transfer.id);
    return move(transfer, "pullSigned", changes, hashesOf(transactions), transactions);
  }

  async function followPull(transfer: Transfer): Promise<Outcome> {
    const settled = await deps.network(transfer.fromChainId).settle(transfer, "pull");
    onEdge("pull settled", transfer.id);
    if (settled.kind === "done") return move(transfer, "pulled", {}, { hash: settled.hash });
    if (settled.kind === "reverted") {
      return move(transfer, "abandoned", {}, { reason: "the authorization was refused on chain" });
    }
    if (settled.kind === "waiting") return waitFor(settled);
    const sign = () => deps.network(transfer.fromChainId).signPull(transfer);
    const why = "the nonce was used by another transaction";
    return signAgain(transfer, ["pull"], settled.hash, sign, why);
  }

  /** The sender's funds are with us, so the transfer goes on as soon as a burn can succeed. */
  async function burnAgain(transfer: Transfer, reverted: string): Promise<Outcome> {
    const { usdc, paysGas, refusal } = await deps.network(transfer.fromChainId).wallet();
    if (refusal || !paysGas || usdc < transfer.amount + transfer.maxFee) {
      const why = refusal ?? "the operator's funds do not suffice";
      return { kind: "wait", changes: { attention: `the burn ${reverted} reverted: ${why}` } };
    }
    const sign = () => signBurn(transfer);
    return signAgain(transfer, ["approve", "burn"], reverted, sign, "the burn reverted");
  }

  async function followBurn(transfer: Transfer): Promise<Outcome> {
    const network = deps.network(transfer.fromChainId);
    const settled = await network.settle(transfer, "burn");
    if (settled.kind === "done") {
      const messageIndex = await network.messageIndex(transfer, settled.hash);
      onEdge("burn seen", transfer.id);
      if (messageIndex === undefined) return { kind: "wait" };
      const { hash } = settled;
      return move(transfer, "burned", { burnHash: hash, messageIndex }, { hash, messageIndex });
    }
    if (settled.kind === "reverted") {
      if (transfer.authorization) return burnAgain(transfer, settled.hash);
      return move(transfer, "abandoned", {}, { reason: "the burn reverted", hash: settled.hash });
    }
    if (settled.kind === "lost") {
      const why = "the nonce was used by another transaction";
      const sign = () => signBurn(transfer);
      return signAgain(transfer, ["approve", "burn"], settled.hash, sign, why);
    }
    // A burn waits for its allowance; what holds that up must be sent or replaced as well.
    const approval = await network.settle(transfer, "approve");
    return waitFor(approval.kind === "waiting" ? { ...settled, ...approval } : settled);
  }

  /** Our message among those of the burn, as the service gives it now. */
  async function ask(transfer: Transfer): Promise<AttestedMessage | Outcome | undefined> {
    const from = deps.chain(transfer.fromChainId);
    const asked = await attestation.messages(from, transfer.burnHash ?? "");
    if (asked.kind === "later") return LATER;
    if (asked.kind === "unavailable") return waitForAttestation({ attention: asked.reason });
    return asked.value[transfer.messageIndex ?? 0];
  }

  /** What the attested message must say; its sender is who signed the burn, whoever signs now. */
  async function expected(transfer: Transfer): Promise<ExpectedMessage> {
    const burns = await store.transactions(transfer.id);
    const burn = burns.find(({ hash }) => hash === transfer.burnHash);
    if (!burn) throw new Error("the burn is none of the transfer's transactions");
    return expectedMessage(deps.chain, transfer, burn.signer);
  }

  async function followAttestation(transfer: Transfer): Promise<Outcome> {
    const answer = await ask(transfer);
    if (answer && "kind" in answer) return answer;
    if (!answer) {
      // Not indexed yet is normal; a burn that left its block again is not.
      const index = await deps
        .network(transfer.fromChainId)
        .messageIndex(transfer, transfer.burnHash ?? "");
      if (index === undefined) await send(transfer, ["approve", "burn"]);
      return waitForAttestation({});
    }
    const { message, attestation: signatures, eventNonce, delayReason } = answer;
    if (!message || !signatures) return waitForAttestation({ delayReason });
    onEdge("attestation seen", transfer.id);
    const check = checkMessage(message, await expected(transfer), eventNonce);
    if (!check.ok) {
      const attention = `the attested message is not ours: ${check.wrong.join(", ")}`;
      return waitForAttestation({ attention });
    }
    const { feeExecuted } = check.message.body;
    const changes = { message, attestation: signatures, feeExecuted, delayReason };
    const detail = { nonce: check.message.nonce, feeExecuted: String(feeExecuted), delayReason };
    return move(transfer, "attested", changes, detail);
  }

  /** Takes a fresh signature over a message that expired. */
  async function renew(transfer: Transfer, attested: Attested): Promise<Outcome> {
    const from = deps.chain(transfer.fromChainId);
    const answer = await ask(transfer);
    if (answer && "kind" in answer) return answer;
    const { message, attestation: signatures, eventNonce } = answer ?? {};
    if (message && signatures && message !== attested.bytes) {
      const check = checkMessage(message, await expected(transfer), eventNonce);
      if (check.ok) {
        const { feeExecuted } = check.message.body;
        const at = clock.now();
        await store.apply({
          id: transfer.id,
          from: transfer.state,
          to: transfer.state,
          event: "attestedAgain",
          at,
          changes: { message, attestation: signatures, feeExecuted, nextCheckAt: at },
          detail: { nonce: check.message.nonce },
        });
        return MOVED;
      }
    }
    const asked = await attestation.reattest(from, attested.message.nonce);
    if (asked.kind === "later") return LATER;
    return waitForAttestation({ attention: "the attestation expired; asked for a new one" });
  }

  async function complete(transfer: Transfer, hash: string): Promise<Outcome> {
    onEdge("mint seen", transfer.id);
    return move(transfer, "minted", { mintHash: hash, delayReason: null }, { hash });
  }

  async function followForwarder(transfer: Transfer, attested: Attested): Promise<Outcome> {
    const network = deps.network(transfer.toChainId);
    const answer = await ask(transfer);
    if (answer && "kind" in answer) return answer;
    const hash = await network.findMint(transfer, attested, answer?.forwardTxHash);
    if (hash) return complete(transfer, hash);
    if (answer?.forwardState === "FAILED") return startMint(transfer, attested);
    return { kind: "wait", pace: deps.pace.attestation };
  }

  /** @param old - hash of the mint before, which did not succeed */
  async function startMint(transfer: Transfer, attested: Attested, old?: string): Promise<Outcome> {
    const network = deps.network(transfer.toChainId);
    const trial = await network.tryMint(attested);
    if (trial.kind === "expired") return renew(transfer, attested);
    if (trial.kind === "used") return { kind: "wait" };
    if (trial.kind === "refused") {
      return { kind: "wait", changes: { attention: `the mint is refused: ${trial.reason}` } };
    }
    const sign = () => network.signMint(transfer, attested);
    if (transfer.state === "minting") {
      return signAgain(transfer, ["mint"], old, sign, "the mint before did not succeed");
    }
    const transactions = await sign();
    onEdge("mint signed", transfer.id);
    return move(transfer, "mintSigned", {}, hashesOf(transactions), transactions);
  }

  async function followMint(transfer: Transfer): Promise<Outcome> {
    const attested = attestedOf(transfer);
    const network = deps.network(transfer.toChainId);
    if (transfer.state === "attested") {
      const found = await network.findMint(transfer, attested);
      if (found) return complete(transfer, found);
      const waitedMs = clock.now() - transfer.stateAt;
      const forwards = transfer.useForwarder && waitedMs < deps.forwardTimeoutMs;
      return forwards ? followForwarder(transfer, attested) : startMint(transfer, attested);
    }
    const settled = await network.settle(transfer, "mint");
    onEdge("mint settled", transfer.id);
    const hint = settled.kind === "done" ? settled.hash : undefined;
    const hash = await network.findMint(transfer, attested, hint);
    if (hash) return complete(transfer, hash);
    if (settled.kind === "waiting" || settled.kind === "done") return waitFor(settled);
    return startMint(transfer, attested, settled.hash);
  }

  const waitForAttestation = (changes: TransferChanges): Outcome => {
    return { kind: "wait", changes, pace: deps.pace.attestation };
  };

  const steps: Readonly<Record<TransferState, (transfer: Transfer) => Promise<Outcome>>> = {
    created: (transfer) => (transfer.authorization ? startPull(transfer) : startBurn(transfer)),
    pulling: followPull,
    funded: startBurn,
    async signed(transfer) {
      await send(transfer, ["approve", "burn"]);
      return move(transfer, "broadcast", {}, {});
    },
    burning: followBurn,
    burned: followAttestation,
    attested: followMint,
    minting: followMint,
    completed: async () => LATER,
    failed: async () => LATER,
  };

  async function pause(transfer: Transfer, outcome: Outcome & { kind: "wait" }): Promise<void> {
    const now = clock.now();
    const checks = transfer.checks + 1;
    const pace = outcome.pace ?? deps.pace.chain;
    const nextCheckAt = now + pauseMs(pace, now - transfer.stateAt);
    const changes = { attention: null, ...outcome.changes };
    await store.note(transfer.id, { ...changes, checks, nextCheckAt }, now);
  }

  async function run(id: string, isEnough: (state: TransferState) => boolean): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      const transfer = (await store.find(id)) as Transfer | undefined;
      if (!transfer || isEnough(transfer.state)) return;
      const outcome = await steps[transfer.state](transfer);
      if (outcome.kind === "wait") return pause(transfer, outcome);
      if (outcome.kind === "later") {
        const now = clock.now();
        return store.note(id, { nextCheckAt: now + LATER_MS }, now);
      }
    }
  }

  return {
    drive: (id) => running.run(id, () => run(id, isFinal)),
    launch: (id) => running.run(id, () => run(id, isSent)),
  };
}

function isSent(state: TransferState): boolean {
  return state !== "created" && state !== "signed" && state !== "pulling";
}

function waitFor(settled: Settlement): Outcome {
  const attention = settled.kind === "waiting" ? settled.attention : undefined;
  return attention ? { kind: "wait", changes: { attention } } : { kind: "wait" };
}

function chainIdOf(transfer: Transfer, purpose: Purpose | undefined): number {
  return purpose === "mint" ? transfer.toChainId : transfer.fromChainId;
}

function hashesOf(transactions: readonly StoredTransaction[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(transactions.map(({ purpose, hash }) => [purpose, hash]));
}

/** What the attested message of a transfer must say. */
function expectedMessage(
  chain: FollowDependencies["chain"],
  transfer: Transfer,
  signer: string,
): ExpectedMessage {
  const from = cctpOf(chain(transfer.fromChainId));
  const to = cctpOf(chain(transfer.toChainId));
  return {
    sourceDomain: from.domain,
    destinationDomain: to.domain,
    sender: addressWord(from.chain.kind, from.tokenMessenger),
    recipient: addressWord(to.chain.kind, to.tokenMessenger),
    minFinalityThreshold: transfer.minFinalityThreshold,
    burnToken: addressWord(from.chain.kind, from.usdc),
    mintRecipient: transfer.mintRecipient as Hex,
    amountAtomic: transfer.amount + transfer.maxFee,
    messageSender: addressWord(from.chain.kind, signer),
    maxFeeAtomic: transfer.maxFee,
    hookData: transfer.hookData as Hex,
  };
}

function attestedOf(transfer: Transfer): Attested {
  const bytes = transfer.message as Hex;
  const message = decodeMessage(bytes);
  if (!message || transfer.attestation === null) throw new Error("the transfer is not attested");
  return { bytes, attestation: transfer.attestation as Hex, message };
}
