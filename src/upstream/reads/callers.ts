import { LRUCache } from "lru-cache";

/** Callers remembered per chain; one who falls out begins anew. */
const MAX_CALLERS = 50_000;
/** Transactions remembered per caller. */
const MAX_OWN_TRANSACTIONS = 64;

/** What one caller has been shown of a chain, and done to it. */
interface CallerView {
  /** Highest block in any answer the caller was given. */
  highest: number | undefined;
  /** Moment of the caller's last broadcast, on the scale of `tick`. */
  sentAt: number;
  readonly ownTransactions: Set<string>;
}

/**
 * What each caller of a chain knows, so that nobody is shown less than before: neither an older
 * head, nor state from before a transaction of one's own.
 */
export class Callers {
  readonly #views = new LRUCache<string, CallerView>({ max: MAX_CALLERS });
  #now = 0;

  /** A moment later than all before; orders reads and broadcasts without a clock. */
  tick(): number {
    return ++this.#now;
  }

  /** Highest block the caller has seen. */
  highest(caller: string | undefined): number | undefined {
    return caller === undefined ? undefined : this.#views.get(caller)?.highest;
  }

  /** Notes a block in an answer to a caller. */
  saw(caller: string | undefined, block: number): void {
    if (caller === undefined) return;
    const view = this.#view(caller);
    if (view.highest === undefined || block > view.highest) view.highest = block;
  }

  /** Takes back what is above a head the chain returned to. */
  rollBack(head: number): void {
    for (const view of this.#views.values()) {
      if (view.highest !== undefined && view.highest > head) view.highest = head;
    }
  }

  /** Notes that a broadcast of the caller began or ended. Calls without a caller are one caller. */
  sent(caller: string | undefined, hash: string | undefined): void {
    const view = this.#view(caller ?? "");
    view.sentAt = this.tick();
    if (hash === undefined) return;
    view.ownTransactions.add(hash);
    if (view.ownTransactions.size <= MAX_OWN_TRANSACTIONS) return;
    for (const oldest of view.ownTransactions) {
      view.ownTransactions.delete(oldest);
      return;
    }
  }

  /** Whether something of `moment` is from after the caller's last broadcast. */
  isSince(caller: string | undefined, moment: number): boolean {
    return moment > (this.#views.get(caller ?? "")?.sentAt ?? 0);
  }

  /** Whether the caller sent the transaction. */
  isOwn(caller: string | undefined, hash: string): boolean {
    return this.#views.get(caller ?? "")?.ownTransactions.has(hash) ?? false;
  }

  #view(caller: string): CallerView {
    const known = this.#views.get(caller);
    if (known) return known;
    const view: CallerView = { highest: undefined, sentAt: 0, ownTransactions: new Set() };
    this.#views.set(caller, view);
    return view;
  }
}
