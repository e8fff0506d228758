import { Cancel } from "./cancel.ts";
import { timers, type WheelTimer } from "./timerWheel.ts";

/** Requests that are answered sooner are answered without a look at whether the client left. */
const LOOK_AFTER_MS = 5;

/**
 * Ends when the client that sent a request hangs up. The runtime's signal costs more than most
 * answers take, so it is asked for by requests that last, only.
 */
export class Presence extends Cancel {
  readonly #timer: WheelTimer;

  constructor(request: Request) {
    super();
    this.#timer = timers.set(LOOK_AFTER_MS, () => this.#look(request));
  }

  /** The answer is made; nobody needs to know any longer. */
  end(): void {
    this.#timer.clear();
  }

  #look({ signal }: Request): void {
    const leave = () => this.abort(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  }
}
