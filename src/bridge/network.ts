import type { Hex } from "viem";
import type { Chain } from "../chains/index.ts";
import type { StoredTransaction, StoredTransfer } from "../db/index.ts";
import type { SignedAuthorization } from "./authorization.ts";
import type { BurnMessage } from "./message.ts";
import type { TransferState } from "./transition.ts";

export type Transfer = StoredTransfer<TransferState>;

/** Why a transaction was signed. */
export type Purpose = "pull" | "approve" | "burn" | "mint" | "reclaim";

/** How far a transfer's transactions of one purpose have come. */
export type Settlement =
  /** In a block and successful. */
  | { readonly kind: "done"; readonly hash: string }
  /** In a block and reverted: it cannot succeed any more. */
  | { readonly kind: "reverted"; readonly hash: string }
  /** Can no longer be included, and did not happen. */
  | { readonly kind: "lost"; readonly hash: string | undefined }
  | { readonly kind: "waiting"; readonly attention?: string };

/** How a mint stands on the destination. */
export type MintTrial =
  | { readonly kind: "ready" }
  | { readonly kind: "used" }
  | { readonly kind: "expired" }
  | { readonly kind: "refused"; readonly reason: string };

/** A message with the service's signatures, checked to be that of our burn. */
export interface Attested {
  readonly bytes: Hex;
  readonly attestation: Hex;
  readonly message: BurnMessage;
}

/** What the operator's wallet has and the network takes. */
export interface WalletState {
  readonly usdc: bigint;
  /** Whether native funds pay for a transfer's transactions. */
  readonly paysGas: boolean;
  /** Why the network would refuse a burn now; undefined: it would not. */
  readonly refusal: string | undefined;
}

/**
 * One network as transfers need it: signing for the operator's wallet, sending, and proof of what
 * happened. Signed transactions are stored before they are sent, and the stored bytes are sent.
 */
export interface BridgeNetwork {
  readonly chain: Chain;
  wallet(): Promise<WalletState>;
  /** Head of the chain: block number or slot. */
  head(): Promise<number>;
  /** Whether USDC takes a sender's authorization for this amount now. */
  acceptsPull(authorization: SignedAuthorization, amountAtomic: bigint): Promise<boolean>;
  /** Signs what takes the sender's funds by its authorization. */
  signPull(transfer: Transfer): Promise<readonly StoredTransaction[]>;
  /** Signs the burn and what must go before it, in that order. */
  signBurn(transfer: Transfer, destinationDomain: number): Promise<readonly StoredTransaction[]>;
  /** @throws when no node takes it; sending again is harmless */
  broadcast(transaction: StoredTransaction): Promise<void>;
  /** Sees how far it is, and sends or replaces what is stuck. */
  settle(transfer: Transfer, purpose: Purpose): Promise<Settlement>;
  /** Position of our message among those of the burn; undefined when the burn is not in a block. */
  messageIndex(transfer: Transfer, hash: string): Promise<number | undefined>;
  /** Simulates our mint. */
  tryMint(transfer: Transfer, attested: Attested): Promise<MintTrial>;
  signMint(transfer: Transfer, attested: Attested): Promise<readonly StoredTransaction[]>;
  /** A burn leaves something whose rent can be taken back after this time; undefined: nothing. */
  readonly reclaimAfterMs?: number;
  /** Signs what takes it back; empty when it is no longer there. */
  signReclaim(transfer: Transfer, attested: Attested): Promise<readonly StoredTransaction[]>;
  /** Hash of the transaction that minted the message, ours or anyone's; undefined: none did. */
  findMint(transfer: Transfer, attested: Attested, hint?: string): Promise<string | undefined>;
}
