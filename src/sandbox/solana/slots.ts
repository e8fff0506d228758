import { createHash } from "node:crypto";
import { type Blockhash, getBase58Decoder } from "@solana/kit";
import { invalidParams } from "./errors.ts";

/** How sure a caller wants to be, from the least. */
export const commitments = ["processed", "confirmed", "finalized"] as const;
export type Commitment = (typeof commitments)[number];

/** Pace of the public clusters. */
export const SLOT_MS = 400;
/** A blockhash is good for this many blocks after its own. */
export const BLOCKHASH_LIFE = 150n;
const FIRST_SLOT = 1_000_000n;
/** Slots without a block before the first; on public clusters too the height trails the slot. */
const SKIPPED_SLOTS = 40_000n;
/** Slots until a block counts as confirmed and as final. */
const DEPTHS: Readonly<Record<Commitment, bigint>> = {
  processed: 0n,
  confirmed: 1n,
  finalized: 32n,
};
/** Blockhashes remembered; one per slot at most, so far more than can be valid. */
const KEPT_BLOCKHASHES = 1_024;

/** The passing of slots, read from the clock; every slot has a block. */
export class Slots {
  readonly genesisHash: Blockhash;
  readonly #startedAtMs: number;
  readonly #issued = new Map<string, bigint>();

  /** @param now - monotonic ms */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.#startedAtMs = now();
    this.genesisHash = hash(crypto.randomUUID());
  }

  /** Newest slot at a commitment. */
  current(commitment: Commitment): bigint {
    const elapsed = BigInt(Math.floor((this.now() - this.#startedAtMs) / SLOT_MS));
    return FIRST_SLOT + elapsed - DEPTHS[commitment];
  }

  /** Height of the block in a slot. */
  heightOf(slot: bigint): bigint {
    return slot - SKIPPED_SLOTS;
  }

  /** The strongest commitment a slot has reached. */
  commitmentOf(slot: bigint): Commitment {
    return commitments.findLast((level) => this.current(level) >= slot) ?? "processed";
  }

  /** Blockhash of the newest slot at a commitment, and the last block it is good for. */
  latestBlockhash(commitment: Commitment): { blockhash: Blockhash; lastValidBlockHeight: bigint } {
    const slot = this.current(commitment);
    const blockhash = hash(`${this.genesisHash} ${slot}`);
    this.#issued.set(blockhash, slot);
    for (const oldest of this.#issued.keys()) {
      if (this.#issued.size <= KEPT_BLOCKHASHES) break;
      this.#issued.delete(oldest);
    }
    return { blockhash, lastValidBlockHeight: this.heightOf(slot) + BLOCKHASH_LIFE };
  }

  /** Whether a transaction may carry this blockhash now. Only blockhashes handed out are known. */
  isValidBlockhash(blockhash: string, commitment: Commitment = "processed"): boolean {
    const slot = this.#issued.get(blockhash);
    return slot !== undefined && this.current(commitment) - slot <= BLOCKHASH_LIFE;
  }
}

/**
 * Reads the commitment of a call's options; finalized when it names none.
 * @throws RpcError on any other
 */
export function readCommitment(value: unknown): Commitment {
  if (value === undefined || value === null) return "finalized";
  const found = commitments.find((level) => level === value);
  if (!found) throw invalidParams(`Invalid params: unknown variant \`${String(value)}\`.`);
  return found;
}

function hash(text: string): Blockhash {
  return getBase58Decoder().decode(createHash("sha256").update(text).digest()) as Blockhash;
}
