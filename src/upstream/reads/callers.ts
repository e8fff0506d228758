import { LRUCache } from "lru-cache";

/** Callers remembered per chain; one who falls out begins anew. */
const MAX_CALLERS = 50_000;
/** Transactions remembered per caller. */
const MAX_OWN_TRANSACTIONS = 64;

/** What one caller has been shown of a chain, and done to it. */
export class CallerView {
  /** Highest block in any answer the caller was given. */
  highest: number | undefined;
  /** Moment of the caller's last broadcast, on the scale of `Callers.tick`. */
  sentAt = 0;
  #ownTransactions: Set<string> | undefined;

  /** @param isKnown - false for all callers without a name together, who need not see the same */
  constructor(private readonly isKnown: boolean) {}

  /** Notes a block in an answer to the caller. */
  saw(block: number): void {
    if (this.isKnown && (this.highest === undefined || block > this.highest)) this.highest = block;
  }

  /** Whether something of `moment` is from after the caller's last broadcast. */
  isSince(moment: number): boolean {
    return moment > this.sentAt;
  }

  /** Whether the caller sent the transaction. */
  isOwn(hash: string): boolean {
    return this.#ownTransactions?.has(hash) ?? false;
  }

  /** Notes a transaction of the caller's. */
  owns(hash: string): void {
    this.#ownTransactions ??= new Set();
    this.#ownTransactions.add(hash);
    if (this.#ownTransactions.size <= MAX_OWN_TRANSACTIONS) return;
    for (const oldest of this.#ownTransactions) {
      this.#ownTransactions.delete(oldest);
      return;
    }
  }
}

/**
 * What each caller of a chain knows, so that nobody is shown less than before: neither an older
 * head, nor state from before a transaction of one's own.
 */
export class Callers {
  readonly #views = new LRUCache<string, CallerView>({ max: MAX_CALLERS });
  readonly #nameless = new CallerView(false);
  /** Who came last, who is most often who comes next. */
  #last: { readonly caller: string; readonly view: CallerView } | undefined;
  #now = 0;

  /** A moment later than all before; orders reads and broadcasts without a clock. */
  tick(): number {
    return ++this.#now;
  }

  /** What a caller knows. Calls without a caller are one caller's. */
  of(caller: string | undefined): CallerView {
    if (caller === undefined) return this.#nameless;
    if (this.#last?.caller === caller) return this.#last.view;
    let view = this.#views.get(caller);
    if (!view) this.#views.set(caller, (view = new CallerView(true)));
    this.#last = { caller, view };
    return view;
  }

  /** Takes back what is above a head the chain returned to. */
  rollBack(head: number): void {
    // It may be the view of a caller who fell out.
    this.#last = undefined;
    for (const view of this.#views.values()) {
      if (view.highest !== undefined && view.highest > head) view.highest = head;
    }
  }

  /** Notes that a broadcast of a caller began or ended. */
  sent(caller: string | undefined, hash: string | undefined): void {
    const view = this.of(caller);
    view.sentAt = this.tick();
    if (hash !== undefined) view.owns(hash);
  }
}
