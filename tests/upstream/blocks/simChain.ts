import { keccak256, toHex } from "viem";
import { type Clock, type Random, seededRandom } from "../../../src/lib/clock.ts";
import { type Block, parseBlock, toQuantity } from "../../../src/upstream/blocks/block.ts";
import type { BlockReader } from "../../../src/upstream/blocks/reader.ts";
import { UpstreamUnavailableError } from "../../../src/upstream/index.ts";

/** A chain in memory that can be mined, reorganised and read through nodes that lag or fail. */
export class SimChain {
  /** The canonical branch; index is the height. */
  blocks: Block[] = [];
  readonly everMined = new Map<string, Block>();
  /** Chance that a read fails, and that it is answered by a node that many blocks behind. */
  failures = 0;
  lagging = 0;
  lagBlocks = 0;
  reads = 0;
  #salt = 0;

  constructor(readonly random: Random = seededRandom(1)) {
    this.mine(10);
  }

  get head(): Block {
    return this.blocks.at(-1) as Block;
  }

  mine(count = 1): void {
    for (let n = 0; n < count; n++) {
      const number = this.blocks.length;
      const block = parseBlock({
        number: toQuantity(number),
        timestamp: toQuantity(1_000 + number),
        hash: keccak256(toHex(`block ${number} ${this.#salt++}`)),
        parentHash: this.blocks.at(-1)?.hash ?? keccak256("0x"),
        logsBloom: `0x${"00".repeat(256)}`,
        transactions: [],
      }) as Block;
      this.blocks.push(block);
      this.everMined.set(block.hash, block);
    }
  }

  /** Replaces the last blocks by others. */
  reorganise(depth: number, count: number): void {
    this.blocks.splice(this.blocks.length - depth);
    this.mine(count);
  }

  reader(): BlockReader {
    const read = async (find: (blocks: readonly Block[]) => Block | undefined) => {
      this.reads++;
      await Promise.resolve();
      if (this.random() < this.failures) throw new UpstreamUnavailableError("simulated");
      const behind = this.random() < this.lagging ? this.lagBlocks : 0;
      return find(this.blocks.slice(0, this.blocks.length - behind));
    };
    return {
      latest: () => read((blocks) => blocks.at(-1)),
      byNumber: (number) => read((blocks) => blocks[number]),
      byHash: (hash) => read((blocks) => blocks.find((block) => block.hash === hash)),
      logs: async (hash) => {
        const block = this.everMined.get(hash);
        return block && [{ address: "0x", topics: [], index: 0, json: `{"n":${block.number}}` }];
      },
    };
  }
}

/** A clock whose sleeps pass at once, each after what the test wants to happen meanwhile. */
export function steppedClock(onSleep: (ms: number) => void | Promise<void>): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      nowMs += ms;
      await onSleep(ms);
      await new Promise(setImmediate);
    },
  };
}
