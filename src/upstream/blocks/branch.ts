import type { Block } from "./block.ts";

/** Blocks remembered: reorganisations up to this deep are followed exactly. */
const MAX_BLOCKS = 256;

/** The newest blocks of the branch that is followed, each the parent of the next. */
export class Branch {
  readonly #blocks: Block[];

  constructor(first: Block) {
    this.#blocks = [first];
  }

  get head(): Block {
    return this.#blocks.at(-1) as Block;
  }

  get tail(): Block {
    return this.#blocks[0] as Block;
  }

  /** Whether a block of this hash is part of the branch. */
  has(hash: string): boolean {
    // Newest first, because that is where look-ups hit.
    for (let index = this.#blocks.length - 1; index >= 0; index--) {
      if (this.#blocks[index]?.hash === hash) return true;
    }
    return false;
  }

  /** Adds a child of the head. */
  append(block: Block): void {
    this.#blocks.push(block);
    if (this.#blocks.length > MAX_BLOCKS) this.#blocks.shift();
  }

  /**
   * Replaces what follows a block of this branch by another branch.
   * @param blocks - oldest first; the parent of the first may be unknown, then nothing is kept
   * @returns the blocks that are no longer part, newest first
   */
  fork(blocks: readonly [Block, ...Block[]]): Block[] {
    const parent = blocks[0].parentHash;
    const kept = this.#blocks.findIndex(({ hash }) => hash === parent) + 1;
    const removed = this.#blocks.splice(kept).reverse();
    for (const block of blocks) {
      this.#blocks.push(block);
      if (this.#blocks.length > MAX_BLOCKS) this.#blocks.shift();
    }
    return removed;
  }
}
