/** Blocks, and time worth of blocks, by which a head may rise at once without a second witness. */
const MIN_LEAP_BLOCKS = 64;
const MIN_LEAP_MS = 60_000;
/** A chain may have run this much faster than expected since its head was last seen to rise. */
const MAX_SPEED = 4;
/** Time, and time in blocks, during which no node shows the head, after which it is given up. */
const GIVE_UP_MS = 10_000;
const GIVE_UP_BLOCKS = 5;

/** A node that went back no further than this has several machines behind one address. */
const MAX_SPREAD_BLOCKS = 64;
/** Such a node is trusted again when it did not go back for this long. */
const FORGET_SPREAD_MS = 60_000;

export interface HeadsOptions {
  readonly blockTimeMs: number;
  /** Monotonic time, ms. */
  readonly now: () => number;
}

/**
 * The highest block of a chain, from what its nodes say. One node alone cannot make the head leap
 * far ahead, so a node that lies or serves another chain does not make the honest ones look behind.
 * The head moves back only when no node has shown it for a while: the chain itself went back.
 */
export class Heads {
  #highest: number | undefined;
  #risenAtMs = 0;
  #missingSinceMs: number | undefined;
  /** The last head each node claimed, believed or not. */
  readonly #claims = new Map<object, number>();
  /** How far each node was seen to go back, and when. */
  readonly #spreads = new Map<object, { blocks: number; atMs: number }>();
  /** The node whose first claim became the head before any other spoke. */
  #soleWitness: object | undefined;

  constructor(private readonly options: HeadsOptions) {}

  /** Highest block believed; undefined before the first claim. */
  get highest(): number | undefined {
    return this.#highest;
  }

  /**
   * Notes the head a node claims.
   * @param node - identity of the node
   * @param hasPeers - whether other nodes are in use who could confirm it
   * @returns false when the claim leaps ahead and nobody confirms it: it is not believed for now
   */
  claim(node: object, head: number, hasPeers: boolean): boolean {
    this.#claims.set(node, head);
    this.#dropSoleWitness(node);
    if (hasPeers && this.#isLeap(node, head)) return false;
    if (this.#highest === undefined) this.#soleWitness = node;
    if (this.#highest === undefined || head > this.#highest) {
      this.#highest = head;
      this.#risenAtMs = this.options.now();
    }
    return true;
  }

  /**
   * Notes that a node which had shown `before` answered from `after`: a balancer with machines of
   * different heads behind it, any of which may answer the next call.
   */
  wentBack(node: object, before: number, after: number): void {
    const blocks = before - after;
    if (blocks <= 0 || blocks > MAX_SPREAD_BLOCKS) return;
    this.#spreads.set(node, {
      blocks: Math.max(blocks, this.spread(node)),
      atMs: this.options.now(),
    });
  }

  /** How many blocks below its head a node may answer from. */
  spread(node: object): number {
    const spread = this.#spreads.get(node);
    if (!spread || this.options.now() - spread.atMs > FORGET_SPREAD_MS) return 0;
    return spread.blocks;
  }

  /** Forgets a node that is no longer used. */
  forget(node: object): void {
    this.#claims.delete(node);
    this.#spreads.delete(node);
  }

  /**
   * Compares the head with what the nodes in use have; called after each look at one of them.
   * @param best - highest head of the nodes in use; undefined when none is
   * @returns true when the head was given up and is now `best`
   */
  settle(best: number | undefined): boolean {
    if (best === undefined || this.#highest === undefined || best >= this.#highest) {
      this.#missingSinceMs = undefined;
      return false;
    }
    const nowMs = this.options.now();
    this.#missingSinceMs ??= nowMs;
    const patienceMs = Math.max(GIVE_UP_MS, GIVE_UP_BLOCKS * this.options.blockTimeMs);
    if (nowMs - this.#missingSinceMs < patienceMs) return false;
    this.#highest = best;
    this.#missingSinceMs = undefined;
    return true;
  }

  #isLeap(node: object, head: number): boolean {
    if (this.#highest === undefined) return false;
    const { blockTimeMs, now } = this.options;
    const elapsedMs = now() - this.#risenAtMs;
    const reach = this.#reach() + Math.ceil((elapsedMs * MAX_SPEED) / blockTimeMs);
    if (head <= this.#highest + reach) return false;
    for (const [other, claim] of this.#claims) {
      if (other !== node && claim >= head - reach) return false;
    }
    return true;
  }

  #reach(): number {
    return Math.max(MIN_LEAP_BLOCKS, Math.ceil(MIN_LEAP_MS / this.options.blockTimeMs));
  }

  /** The very first claim had no witness; two others who agree far below it overrule it. */
  #dropSoleWitness(node: object): void {
    const sole = this.#soleWitness;
    const { blockTimeMs } = this.options;
    if (!sole || node === sole || this.#highest === undefined) return;
    const reach = this.#reach();
    const others = [...this.#claims].filter(([other]) => other !== sole).map(([, head]) => head);
    if (Math.max(...others) + reach >= this.#highest) {
      this.#soleWitness = undefined;
      return;
    }
    others.sort((a, b) => b - a);
    const [first, second] = others;
    if (first === undefined || second === undefined || first - second > reach) return;
    this.#highest = first;
    this.#risenAtMs = this.options.now() - blockTimeMs;
    this.#soleWitness = undefined;
  }
}
