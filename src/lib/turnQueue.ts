/**
 * Gathers what one turn of the event loop brings and has it handled together at the turn's end. The
 * lists are used again, so that gathering makes nothing.
 */
export class TurnQueue<Item> {
  #items: Item[] = [];
  #spare: Item[] = [];

  /** @param handle - given the items of a turn; must not keep the list, nor throw */
  constructor(private readonly handle: (items: readonly Item[]) => void) {}

  add(item: Item): void {
    if (this.#items.push(item) === 1) setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const items = this.#items;
    this.#items = this.#spare;
    this.handle(items);
    items.length = 0;
    this.#spare = items;
  };
}
