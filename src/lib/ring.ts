/** Something that stands in at most one ring. */
export class RingItem {
  #previous: RingItem = this;
  #next: RingItem = this;

  get next(): RingItem {
    return this.#next;
  }

  /** Leaves its ring, if it is in one. */
  leaveRing(): void {
    this.#previous.#next = this.#next;
    this.#next.#previous = this.#previous;
    // Left as they are, neighbours would keep each other alive along the chain of all that ever were.
    this.#previous = this;
    this.#next = this;
  }

  /** Enters the ring in which another item stands, in front of it. */
  enterBefore(other: RingItem): void {
    this.leaveRing();
    this.#previous = other.#previous;
    this.#next = other;
    other.#previous.#next = this;
    other.#previous = this;
  }
}

/**
 * A set of items that come and go all the time, in the order in which they came. A `Set` is copied
 * again and again then, each copy refers to the next, and so what was in it outlives all collections
 * but the full ones.
 */
export class Ring<Item extends RingItem> {
  readonly #anchor = new RingItem();

  /** Takes in an item at the end; it leaves by itself. */
  add(item: Item): void {
    item.enterBefore(this.#anchor);
  }

  /** All there are now. Some may leave while the list is gone through. */
  list(): Item[] {
    const items: Item[] = [];
    for (let at = this.#anchor.next; at !== this.#anchor; at = at.next) {
      // Nothing else was added.
      items.push(at as Item);
    }
    return items;
  }
}
