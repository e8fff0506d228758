import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import type { BridgeStore } from "../db/index.ts";
import { formatDecimalAmount } from "../lib/amounts.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import { SingleFlight } from "../lib/singleFlight.ts";
import type { Logger } from "../telemetry/index.ts";
import type { AttestationClient } from "./attestation/client.ts";
import { checkAuthorization } from "./authorization.ts";
import { draftTransfer } from "./draft.ts";
import type { Follower } from "./follow.ts";
import { requestHash } from "./idempotency.ts";
import type { BridgeRequest, BridgeResult, BridgeStatus } from "./model.ts";
import type { BridgeNetworks } from "./networks.ts";
import type { Transfer } from "./network.ts";
import { planTransfer, type TransferPlan } from "./plan.ts";
import { statusOf } from "./transition.ts";

/** Who asks for a transfer. */
export interface BridgeCaller {
  readonly keyId: string;
  /** Test keys never move mainnet funds. */
  readonly environment: "test" | "live";
  /** The key's own bounds in atomic USDC, within the operator's; null or absent: those alone. */
  readonly limits?: {
    readonly perTransferAtomic: bigint | null;
    readonly perDayAtomic: bigint | null;
  };
}

export interface TransferService {
  /**
   * Checks a transfer, starts it, and answers as soon as its burn was given to the network.
   * @param idempotencyKey - 1 to 255 characters; the same key and body stand for the same transfer
   * @throws ApiError of `planTransfer` and `checkAuthorization`, `IDEMPOTENCY_CONFLICT`,
   *   `BRIDGE_LIMIT_EXCEEDED`, `BRIDGE_FEE_TOO_HIGH`, `BRIDGE_DISABLED`, or `BRIDGE_FAILED` when
   *   nothing was burned and nothing will be
   */
  transfer(
    caller: BridgeCaller,
    request: BridgeRequest,
    idempotencyKey?: string,
  ): Promise<BridgeResult>;
  /**
   * @param maySee - whether the asker may see transfers that this key started; left out: all
   * @throws ApiError `TRANSFER_NOT_FOUND`, also for a transfer that may not be seen
   */
  status(
    transactionHash: string,
    maySee?: (keyId: string) => Promise<boolean>,
  ): Promise<BridgeStatus>;
}

export interface TransferServiceDependencies {
  readonly chains: ChainRegistry;
  readonly store: BridgeStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Config["bridge"];
  readonly attestation: AttestationClient;
  /** Undefined: no operator key is configured. */
  readonly operator: { readonly networks: BridgeNetworks; readonly follower: Follower } | undefined;
  readonly onEdge: (edge: string, transferId: string) => void;
}

const USDC_DECIMALS = 6;
const DAY_MS = 86_400_000;
/** States whose burn is not in a block yet: their amount is still in the operator's balance. */
const UNBURNED = ["created", "pulling", "funded", "signed", "burning"];
const ANSWER_POLL_MS = 50;
/** How long a transfer that another process is starting is waited for. */
const ANSWER_TIMEOUT_MS = 10_000;

/** The bridge's part that answers callers. */
export function createTransferService(deps: TransferServiceDependencies): TransferService {
  const { store, clock, config } = deps;
  const starting = new SingleFlight<BridgeResult>();

  async function start(
    caller: BridgeCaller,
    plan: TransferPlan,
    request: BridgeRequest,
    idempotency: { key: string; bodyHash: string } | undefined,
  ): Promise<BridgeResult> {
    const { operator } = deps;
    if (!operator) throw new ApiError("BRIDGE_FAILED");
    if (!config.enabled) throw new ApiError("BRIDGE_DISABLED");
    const limits = limitsFor(caller, config);
    if (plan.amountAtomic > limits.perTransferAtomic) throw limitExceeded("perTransfer", limits);
    const draft = await prepare(operator.networks, caller, plan, request).catch((error) => {
      if (error instanceof ApiError) throw error;
      deps.log.error({ error, chainId: plan.from.id }, "a bridge transfer cannot be started");
      throw new ApiError("BRIDGE_FAILED");
    });
    const created = await store.create({
      transfer: draft,
      idempotency,
      limits: {
        perKeyAndDay: limits.perKeyAndDayAtomic,
        perDay: limits.perDayAtomic,
        daySince: draft.createdAt - (draft.createdAt % DAY_MS),
      },
    });
    if (created.kind === "limit") throw limitExceeded(created.which, limits);
    if (created.kind === "known") return answerKnown(created, idempotency?.bodyHash);
    deps.onEdge("created stored", draft.id);
    await launch(operator.follower, draft.id);
    return answerOf(draft.id);
  }

  /** All that is looked at before anything is written, at the same time. */
  async function prepare(
    networks: BridgeNetworks,
    caller: BridgeCaller,
    plan: TransferPlan,
    request: BridgeRequest,
  ): Promise<Transfer> {
    const { authorization: signed } = request;
    if (!networks.canSign(plan.from)) throw new ApiError("BRIDGE_FAILED");
    const source = networks.get(plan.from.id);
    const destination = networks.get(plan.to.id);
    const [wallet, outstanding, target, destinationBlock, authorization] = await Promise.all([
      source.wallet(),
      store.outstanding(plan.from.id, UNBURNED),
      networks.mintTarget(plan),
      destination.head(),
      signed ? checkAuthorization(plan, signed, clock.now(), source.acceptsPull) : null,
    ]);
    const now = clock.now();
    const input = { plan, keyId: caller.keyId, target, authorization, destinationBlock, now };
    const draft = await draftTransfer(input, deps.attestation, config);
    const own = draft.maxFee + (authorization ? 0n : draft.amount);
    const problem =
      wallet.refusal ??
      (wallet.usdc - outstanding < own ? "the operator has too little USDC" : undefined) ??
      (wallet.paysGas ? undefined : "the operator has too little native funds") ??
      (draft.useForwarder || networks.canSign(plan.to)
        ? undefined
        : "there is no key to mint with");
    if (problem) {
      deps.log.error({ chainId: plan.from.id, problem }, "a bridge transfer cannot be started");
      throw new ApiError("BRIDGE_FAILED");
    }
    return draft;
  }

  /** Signs and sends; what fails after the bytes are stored is the worker's to repeat. */
  async function launch(follower: Follower, id: string): Promise<void> {
    try {
      await follower.launch(id);
    } catch (error) {
      deps.log.warn({ transfer: id, error }, "a new bridge transfer is left to the worker");
      const transfer = await store.find(id);
      if (transfer && transfer.transactionHash === null) await abandon(transfer as Transfer, error);
    }
  }

  /** Nothing was signed, so nothing can be burned: the caller may try again. */
  async function abandon(transfer: Transfer, error: unknown): Promise<void> {
    const abandoned = await store.apply({
      id: transfer.id,
      from: "created",
      to: "failed",
      event: "abandoned",
      at: clock.now(),
      changes: {},
      detail: { reason: error instanceof Error ? error.name : "failed" },
      unlessReserved: true,
    });
    if (abandoned) await store.releaseIdempotencyKey(transfer.id);
  }

  async function answerKnown(
    known: { readonly transferId: string; readonly bodyHash: string },
    bodyHash: string | undefined,
  ): Promise<BridgeResult> {
    if (known.bodyHash !== bodyHash) throw new ApiError("IDEMPOTENCY_CONFLICT");
    return answerOf(known.transferId);
  }

  /** The answer a transfer had or will have once its hash is known. */
  async function answerOf(id: string): Promise<BridgeResult> {
    const deadline = clock.monotonic() + ANSWER_TIMEOUT_MS;
    for (;;) {
      const transfer = await store.find(id);
      if (transfer?.transactionHash) {
        return {
          success: true,
          transactionHash: transfer.transactionHash,
          status: "pending",
          estimatedTime: transfer.estimatedTime,
        };
      }
      const isOver = clock.monotonic() > deadline;
      if (!transfer || transfer.state === "failed" || isOver) throw new ApiError("BRIDGE_FAILED");
      await clock.sleep(ANSWER_POLL_MS);
    }
  }

  return {
    async transfer(caller, request, idempotencyKey) {
      const plan = planTransfer(deps.chains, caller.environment, request);
      if (idempotencyKey === undefined) return start(caller, plan, request, undefined);
      const bodyHash = requestHash(plan, request);
      const known = await store.findByIdempotencyKey(caller.keyId, idempotencyKey);
      if (known) return answerKnown(known, bodyHash);
      return starting.run(`${caller.keyId} ${bodyHash} ${idempotencyKey}`, () =>
        start(caller, plan, request, { key: idempotencyKey, bodyHash }),
      );
    },
    async status(transactionHash, maySee) {
      // A Solana signature has a case, a hash does not.
      const isHash = transactionHash.startsWith("0x");
      const hash = isHash ? transactionHash.toLowerCase() : transactionHash;
      const transfer = await store.findByHash(hash);
      const isShown = transfer && (!maySee || (await maySee(transfer.keyId)));
      if (!isShown) throw new ApiError("TRANSFER_NOT_FOUND");
      return describe(transfer as Transfer);
    },
  };
}

function usdc(atomic: bigint): string {
  return formatDecimalAmount(atomic, USDC_DECIMALS);
}

type Limits = Config["bridge"]["limits"];

/** The operator's limits, of which a key may have smaller ones. */
function limitsFor(caller: BridgeCaller, { limits }: Config["bridge"]): Limits {
  return {
    ...limits,
    perTransferAtomic: smaller(limits.perTransferAtomic, caller.limits?.perTransferAtomic),
    perKeyAndDayAtomic: smaller(limits.perKeyAndDayAtomic, caller.limits?.perDayAtomic),
  };
}

function smaller(bound: bigint, own: bigint | null | undefined): bigint {
  return own !== null && own !== undefined && own < bound ? own : bound;
}

function limitExceeded(which: "perTransfer" | "perKeyAndDay" | "perDay", limits: Limits): ApiError {
  const [atomic, per] = {
    perTransfer: [limits.perTransferAtomic, "transfer"] as const,
    perKeyAndDay: [limits.perKeyAndDayAtomic, "key and day"] as const,
    perDay: [limits.perDayAtomic, "day of the whole service"] as const,
  }[which];
  const message = `Bridge limit exceeded: ${usdc(atomic)} USDC per ${per}`;
  return new ApiError("BRIDGE_LIMIT_EXCEEDED", message);
}

function describe(transfer: Transfer): BridgeStatus {
  // The words of nodes and services are for the operator.
  const delayReason = transfer.delayReason ?? (transfer.attention ? "needs_attention" : null);
  return {
    transactionHash: transfer.burnHash ?? transfer.transactionHash ?? "",
    status: statusOf(transfer.state),
    fromChainId: transfer.fromChainId,
    toChainId: transfer.toChainId,
    amount: usdc(transfer.amount),
    fee: usdc(transfer.feeExecuted ?? transfer.maxFee),
    recipientAddress: transfer.recipient,
    senderAddress: transfer.sender,
    useForwarder: transfer.useForwarder,
    destinationTransactionHash: transfer.mintHash,
    message: transfer.message,
    attestation: transfer.attestation,
    delayReason,
    estimatedTime: transfer.estimatedTime,
    createdAt: new Date(transfer.createdAt).toISOString(),
    updatedAt: new Date(transfer.updatedAt).toISOString(),
  };
}
