import type { Clock } from "../../lib/clock.ts";
import { seenBlock, type SeenBlock } from "./observed.ts";
import type { NodeAnswer } from "../nodeAnswer.ts";

/** Blocks on top after which a block counts as final, where a chain's entry names no number. */
const DEFAULT_DEPTH = 64;
/** How often the finalized block is asked for while answers are kept, ms; at least once per block. */
const MIN_REFRESH_MS = 6_000;
/** Blocks whose hashes are remembered to notice that a chain was reorganised. */
const MAX_HASHES = 1_024;

/** A chain's rule, as in its registry entry. */
export interface FinalityRule {
  /** Blocks on top of a final one. */
  readonly depth?: number;
  /** Nodes know the tag `finalized`, which then decides in place of the depth. */
  readonly hasTag?: boolean;
}

export interface FinalityOptions {
  readonly rule: FinalityRule | undefined;
  readonly blockTimeMs: number;
  readonly clock: Clock;
  /** The chain's head. */
  readonly head: () => number | undefined;
  /** Asks a node for the block of a tag or number, without its transactions. */
  readonly ask: (block: string) => Promise<NodeAnswer | undefined>;
  /** Called when blocks above this one are no longer part of the chain. */
  readonly onReorg: (lastKept: number) => void;
}

/**
 * Which blocks of a chain can no longer change, and a watch for the case that they did.
 */
export class Finality {
  #finalized: number | undefined;
  #refreshedAtMs: number | undefined;
  /** The block by which it is checked that the chain is still the same. */
  #anchor: SeenBlock | undefined;
  readonly #hashes = new Map<number, string>();

  constructor(private readonly options: FinalityOptions) {}

  /** Whether a block can no longer change. Starts a look at the chain when the last is old. */
  isFinal(block: number): boolean {
    const finalized = this.#limit();
    if (finalized === undefined || block > finalized) {
      if (this.options.rule?.hasTag) this.#refresh();
      return false;
    }
    this.#refresh();
    return true;
  }

  /** Notes a block seen in an answer; a hash that contradicts an earlier one is a reorganisation. */
  saw({ number, hash, parentHash }: SeenBlock): void {
    const known = this.#hashes.get(number);
    const parent = this.#hashes.get(number - 1);
    if (known !== undefined && known !== hash) this.#reorganised(number - 1);
    else if (parent !== undefined && parent !== parentHash) this.#reorganised(number - 2);
    this.#remember(number, hash);
    this.#remember(number - 1, parentHash);
  }

  /** Forgets everything above a block: the chain went back. */
  rollBack(block: number): void {
    for (const number of this.#hashes.keys()) if (number > block) this.#hashes.delete(number);
    if (this.#finalized !== undefined) this.#finalized = Math.min(this.#finalized, block);
    if (this.#anchor && this.#anchor.number > block) this.#anchor = undefined;
  }

  #limit(): number | undefined {
    const { rule, head } = this.options;
    const highest = head();
    if (highest === undefined) return undefined;
    if (rule?.hasTag) return this.#finalized;
    const byDepth = highest - (rule?.depth ?? DEFAULT_DEPTH);
    return byDepth < 0 ? undefined : byDepth;
  }

  #refresh(): void {
    const { clock, blockTimeMs, rule } = this.options;
    const nowMs = clock.monotonic();
    // The tag is needed at once; what is final by depth is only checked on from time to time.
    const lastMs = this.#refreshedAtMs ?? (rule?.hasTag ? Number.NEGATIVE_INFINITY : nowMs);
    this.#refreshedAtMs ??= lastMs;
    if (nowMs - lastMs < Math.max(MIN_REFRESH_MS, blockTimeMs)) return;
    this.#refreshedAtMs = nowMs;
    void this.#look();
  }

  /** Asks whether the anchor is still in the chain, then for the newest final block as the next. */
  async #look(): Promise<void> {
    const { ask, rule } = this.options;
    const old = this.#anchor;
    if (old) {
      const now = await this.#askBlock(hex(old.number));
      if (now && now.hash !== old.hash) this.#reorganised(-1);
    }
    if (rule?.hasTag) {
      const final = await this.#askBlock("finalized");
      if (final && final.number <= (this.options.head() ?? -1)) {
        this.#finalized = Math.max(this.#finalized ?? 0, final.number);
        this.#anchor = final;
      }
      return;
    }
    const limit = this.#limit();
    if (limit === undefined) return;
    const answer = await ask(hex(limit));
    this.#anchor = answer && seenBlock(answer);
  }

  async #askBlock(block: string): Promise<SeenBlock | undefined> {
    const answer = await this.options.ask(block);
    return answer && seenBlock(answer);
  }

  #reorganised(lastKept: number): void {
    this.rollBack(lastKept);
    this.options.onReorg(lastKept);
  }

  #remember(number: number, hash: string): void {
    this.#hashes.delete(number);
    this.#hashes.set(number, hash);
    if (this.#hashes.size <= MAX_HASHES) return;
    for (const oldest of this.#hashes.keys()) {
      this.#hashes.delete(oldest);
      return;
    }
  }
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
