import type { Awaitable } from "./awaitable.ts";

/** A bridge transfer as stored. Times are ms since the epoch, amounts atomic USDC. */
export interface StoredTransfer<State extends string = string> {
  readonly id: string;
  readonly keyId: string;
  readonly state: State;
  readonly fromChainId: number;
  readonly toChainId: number;
  readonly amount: bigint;
  /** Burned on top of the amount. */
  readonly maxFee: bigint;
  readonly recipient: string;
  /** 32 bytes, hex. */
  readonly mintRecipient: string;
  readonly sender: string | null;
  readonly useForwarder: boolean;
  readonly minFinalityThreshold: number;
  readonly hookData: string;
  readonly authorization: Readonly<Record<string, unknown>> | null;
  readonly estimatedTime: string;
  readonly destinationBlock: number;
  /** Hash the caller was answered with. */
  readonly transactionHash: string | null;
  readonly burnHash: string | null;
  readonly messageIndex: number | null;
  readonly message: string | null;
  readonly attestation: string | null;
  readonly feeExecuted: bigint | null;
  readonly delayReason: string | null;
  readonly mintHash: string | null;
  readonly attention: string | null;
  readonly checks: number;
  readonly nextCheckAt: number;
  readonly createdAt: number;
  readonly stateAt: number;
  readonly updatedAt: number;
}

/** Members that may change after a transfer was made. */
export type TransferChanges = Partial<
  Pick<
    StoredTransfer,
    | "transactionHash"
    | "burnHash"
    | "messageIndex"
    | "message"
    | "attestation"
    | "feeExecuted"
    | "delayReason"
    | "mintHash"
    | "attention"
    | "checks"
    | "nextCheckAt"
  >
>;

/** A signed transaction of a transfer. */
export interface StoredTransaction {
  readonly hash: string;
  readonly transferId: string;
  readonly chainId: number;
  readonly signer: string;
  readonly purpose: string;
  readonly nonce: number | null;
  readonly raw: string;
  /** Wei. */
  readonly maxFeePerGas: bigint | null;
  readonly maxPriorityFeePerGas: bigint | null;
  readonly validUntilHeight: number | null;
  readonly createdAt: number;
}

/** One line of a transfer's history. */
export interface TransferEventEntry {
  readonly transferId: string;
  readonly at: number;
  readonly fromState: string | null;
  readonly toState: string;
  readonly event: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Bounds on reserved amounts (amount and fee of every transfer that did not fail). */
export interface TransferLimits {
  readonly perKeyAndDay: bigint;
  readonly perDay: bigint;
  /** Start of the day the sums are over, ms since the epoch. */
  readonly daySince: number;
}

export interface NewTransfer {
  readonly transfer: StoredTransfer;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | undefined;
  readonly limits: TransferLimits;
}

export type CreateOutcome =
  | { readonly kind: "created" }
  /** The idempotency key stands for this transfer already. */
  | { readonly kind: "known"; readonly transferId: string; readonly bodyHash: string }
  | { readonly kind: "limit"; readonly which: "perKeyAndDay" | "perDay" };

/** One step of a transfer, all of it in one transaction with its line of history. */
export interface TransferStep {
  readonly id: string;
  /** The step applies in this state only. */
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly at: number;
  readonly changes: TransferChanges;
  readonly transactions?: readonly StoredTransaction[];
  readonly detail: Readonly<Record<string, unknown>>;
  /** The step is refused unless this is the newest stored transaction of its purpose. */
  readonly replacing?: string | undefined;
  /** The step is refused once nonces were given out, which must be used then. */
  readonly unlessReserved?: boolean;
}

/** What the bridge remembers. */
export interface BridgeStore {
  /** Writes a transfer, its idempotency key and its first line of history, within the limits. */
  create(input: NewTransfer): Awaitable<CreateOutcome>;
  find(id: string): Awaitable<StoredTransfer | undefined>;
  /** The transfer a transaction hash belongs to: burn, replaced burn, mint, or answered hash. */
  findByHash(hash: string): Awaitable<StoredTransfer | undefined>;
  findByIdempotencyKey(
    keyId: string,
    key: string,
  ): Awaitable<{ transferId: string; bodyHash: string } | undefined>;
  /** Gives an idempotency key back, so that it may stand for another transfer. */
  releaseIdempotencyKey(transferId: string): Awaitable<void>;
  /** @returns false when the transfer is not in the state the step starts from */
  apply(step: TransferStep): Awaitable<boolean>;
  /** Changes that are no step and worth no line of history. */
  note(id: string, changes: TransferChanges, at: number): Awaitable<void>;
  /**
   * Gives out consecutive nonces, once per transfer and purpose: asked again it gives the same.
   * @param floor - the account's transaction count on the chain; no nonce below it is given out
   * @throws Error when the transfer has failed
   */
  reserveNonces(request: {
    readonly chainId: number;
    readonly signer: string;
    readonly transferId: string;
    readonly purposes: readonly string[];
    readonly floor: number;
  }): Awaitable<readonly number[]>;
  /** Notes that the chain used these nonces of a transfer up. */
  spendNonces(transferId: string, chainId: number, nonces: readonly number[]): Awaitable<void>;
  /** A replacement of a stored transaction, with its line of history. */
  addTransaction(transaction: StoredTransaction, entry: TransferEventEntry): Awaitable<void>;
  /** A transfer's transactions, oldest first. */
  transactions(transferId: string): Awaitable<readonly StoredTransaction[]>;
  /** Transfers in these states whose next check has come, the longest waiting first. */
  due(states: readonly string[], now: number, limit: number): Awaitable<readonly StoredTransfer[]>;
  /** What transfers from a chain in these states still have to burn, amount and fee. */
  outstanding(fromChainId: number, states: readonly string[]): Awaitable<bigint>;
  /** Newest first. */
  list(page: { state?: string; limit: number }): Awaitable<readonly StoredTransfer[]>;
  events(transferId: string): Awaitable<readonly TransferEventEntry[]>;
  /** Number of transfers per state. */
  counts(): Awaitable<readonly { readonly state: string; readonly count: number }[]>;
  /** Takes or renews a lease. @returns false while another owner holds it */
  acquireLease(name: string, owner: string, now: number, durationMs: number): Awaitable<boolean>;
  releaseLease(name: string, owner: string): Awaitable<void>;
}
