/** Time for which a node that does not serve a method is not asked for it, ms. */
const MEMORY_MS = 300_000;
const MAX_METHODS = 256;

/**
 * The methods a node said it does not serve. Nodes are upgraded and plans are changed, so it is
 * forgotten after a while.
 */
export class MethodMemory {
  readonly #untilMs = new Map<string, number>();

  note(method: string, nowMs: number): void {
    this.#untilMs.delete(method);
    const [oldest] = this.#untilMs.keys();
    if (this.#untilMs.size >= MAX_METHODS && oldest !== undefined) this.#untilMs.delete(oldest);
    this.#untilMs.set(method, nowMs + MEMORY_MS);
  }

  /** Notes that the node served the method. */
  forget(method: string): void {
    if (this.#untilMs.size > 0) this.#untilMs.delete(method);
  }

  lacks(method: string, nowMs: number): boolean {
    if (this.#untilMs.size === 0) return false;
    const untilMs = this.#untilMs.get(method);
    if (untilMs === undefined) return false;
    if (nowMs < untilMs) return true;
    this.#untilMs.delete(method);
    return false;
  }

  /** The methods known now. */
  list(nowMs: number): string[] {
    return [...this.#untilMs].filter(([, untilMs]) => nowMs < untilMs).map(([method]) => method);
  }
}
