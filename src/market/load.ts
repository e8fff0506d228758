import type { Address } from "viem";
import { v2Abi } from "./abi.ts";
import { Aggregate } from "./aggregate.ts";
import type { FoundPool } from "./discover.ts";
import { type LensRead, readByCreation, readByOverride, type WordRange } from "./loadLens.ts";
import { readByGetters } from "./loadPlain.ts";
import type { BlockRef, V2MarketPool, V3MarketPool } from "./pool.ts";
import { MAX_TICKS } from "./invariants.ts";
import { NodeAnswerError, type PinnedReader } from "./reader.ts";
import { allWords, type V3Reading } from "./v3Reading.ts";

/** Ways to read a v3 pool, best first. */
const FORMS = ["override", "creation", "getters"] as const;
export type LoadForm = (typeof FORMS)[number];

/** How long a lesser form is kept before the best one is tried again, ms. */
const FORM_RETRY_MS = 600_000;

export type FoundV2 = Extract<FoundPool, { readonly kind: "v2" }>;
export type FoundV3 = Extract<FoundPool, { readonly kind: "v3" }>;

/** Loads whole pools of one chain, remembering which way of reading its nodes take. */
export class PoolLoader {
  #form: LoadForm = "override";
  #formSinceMs = 0;

  /** @param monotonic - time in ms */
  constructor(
    private readonly reader: PinnedReader,
    private readonly multicall3: Address,
    private readonly monotonic: () => number,
  ) {}

  /** The way that worked last. */
  get form(): LoadForm {
    return this.#form;
  }

  /** Loads pairs in one call; those that did not answer are left out. */
  async loadPairs(pairs: readonly FoundV2[], block: BlockRef): Promise<V2MarketPool[]> {
    const aggregate = new Aggregate();
    const readings = pairs.map((key) => ({
      key,
      reserves: aggregate.add(key.address, v2Abi, "getReserves"),
      cumulative: aggregate.add(key.address, v2Abi, "price0CumulativeLast"),
    }));
    await aggregate.send(this.reader, this.multicall3, block);
    return readings.flatMap(({ key, reserves, cumulative }) => {
      const amounts = reserves();
      if (!amounts) return [];
      const [reserve0, reserve1] = amounts;
      return [{ ...key, reserve0, reserve1, hasTraded: cumulative() !== 0n }];
    });
  }

  /**
   * Loads a v3 pool, with one call where the nodes allow that.
   * @throws what the last way of reading threw
   */
  async loadPool(key: FoundV3, block: BlockRef): Promise<V3MarketPool> {
    const reading = await this.#read(key, block);
    return { ...key, ...reading };
  }

  async #read(key: FoundV3, block: BlockRef): Promise<V3Reading> {
    if (this.#form !== "override" && this.monotonic() - this.#formSinceMs > FORM_RETRY_MS) {
      this.#form = "override";
    }
    let failure: unknown;
    for (const form of FORMS.slice(FORMS.indexOf(this.#form))) {
      try {
        const reading = await this.#readBy(form, key, block);
        if (form !== this.#form) this.#formSinceMs = this.monotonic();
        this.#form = form;
        return reading;
      } catch (error) {
        // Only a node's own refusal says anything about what the node can do.
        if (!(error instanceof NodeAnswerError)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  #readBy(form: LoadForm, { address, tickSpacing }: FoundV3, block: BlockRef): Promise<V3Reading> {
    if (form === "getters") {
      return readByGetters(this.reader, this.multicall3, address, tickSpacing, block);
    }
    const read = form === "override" ? readByOverride : readByCreation;
    return this.#readWhole(read, address, allWords(tickSpacing), block);
  }

  /** Reads all words in one call, or in parts where a node refuses that for gas or for size. */
  async #readWhole(
    read: LensRead,
    pool: Address,
    words: WordRange,
    block: BlockRef,
  ): Promise<V3Reading> {
    try {
      return await read(this.reader, pool, words, block);
    } catch (error) {
      if (!(error instanceof NodeAnswerError)) throw error;
    }
    // One word alone shows whether it is the size that was refused, or this way of reading.
    await read(this.reader, pool, { first: 0, last: 0 }, block);
    return this.#readHalves(read, pool, words, block);
  }

  /** One half after the other, each again in halves where it is refused: as deep as the words go. */
  async #readHalves(
    read: LensRead,
    pool: Address,
    { first, last }: WordRange,
    block: BlockRef,
  ): Promise<V3Reading> {
    const middle = Math.floor((first + last) / 2);
    let whole: V3Reading | undefined;
    for (const half of [
      { first, last: middle },
      { first: middle + 1, last },
    ]) {
      const part = await read(this.reader, pool, half, block).catch((error: unknown) => {
        if (!(error instanceof NodeAnswerError) || half.first >= half.last) throw error;
        return this.#readHalves(read, pool, half, block);
      });
      whole = whole ? { ...part, ticks: [...whole.ticks, ...part.ticks] } : part;
      if (whole.ticks.length > MAX_TICKS) throw new NodeAnswerError(`more than ${MAX_TICKS} ticks`);
    }
    if (!whole) throw new Error("a range has two halves");
    return whole;
  }
}
