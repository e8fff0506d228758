import { Cancel, type CancelSignal } from "../lib/cancel.ts";
import type {
  AnswerLimits,
  AnswerTarget,
  Connection,
  ConnectionFault,
  HttpAnswer,
  Sending,
} from "./connection.ts";
import type { RequestText } from "./requestText.ts";

export interface AdmittedPostOptions {
  readonly connection: Connection;
  /**
   * Waits until the account's pace admits one more HTTP request and counts it.
   * @returns what to call when it has ended
   * @throws when the signal aborts
   */
  readonly admit: (signal: CancelSignal) => Promise<() => void>;
}

/** A request that is sent once the account's pace admits it. */
export class AdmittedPost implements Sending, AnswerTarget {
  readonly #leaving = new Cancel();
  #sending: Sending | undefined;
  #leave: (() => void) | undefined;

  constructor(
    private readonly options: AdmittedPostOptions,
    private readonly target: AnswerTarget,
  ) {}

  async start(body: RequestText, limits: AnswerLimits): Promise<void> {
    try {
      this.#leave = await this.options.admit(this.#leaving);
    } catch {
      return;
    }
    if (this.#leaving.aborted) return this.#leave();
    this.#sending = this.options.connection.post(body, limits, this);
  }

  answered(answer: HttpAnswer): void {
    this.#leave?.();
    this.target.answered(answer);
  }

  faulted(fault: ConnectionFault): void {
    this.#leave?.();
    this.target.faulted(fault);
  }

  drop(): void {
    if (this.#leaving.aborted) return;
    this.#leaving.abort();
    this.#sending?.drop();
    this.#leave?.();
  }
}
