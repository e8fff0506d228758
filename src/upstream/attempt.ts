import { Timer, timers } from "../lib/timerWheel.ts";
import { classifyFault, type Verdict } from "./classify.ts";
import type { AnswerTarget, ConnectionFault, HttpAnswer, Sending } from "./connection.ts";
import type { MethodClass } from "./methodClass.ts";
import { callLength, type RequestText, writeCall } from "./requestText.ts";
import type { Sent } from "./slidingWindow.ts";
import type { RpcCall } from "./types.ts";

/** The upstream an attempt is made at, which learns from its outcome. */
export interface AttemptHost {
  /** What an answer means. */
  judge(answer: HttpAnswer, id: number): Verdict;
  /** What it means that no answer came in time. */
  judgeTimeout(startMs: number): Verdict;
  /** Learns from the outcome. @returns when it was, monotonic ms */
  conclude(attempt: Attempt, verdict: Verdict): number;
}

/** Told what came of an attempt: once, unless it was aborted, and never before it has started. */
export interface AttemptOwner {
  judged(attempt: Attempt, verdict: Verdict): void;
}

/** One request to one upstream, from its place to its verdict. */
export class Attempt<Host extends AttemptHost = AttemptHost>
  extends Timer
  implements AnswerTarget, RequestText
{
  /** When it ended, monotonic ms. */
  endMs = 0;
  #isOver = false;
  #sending: Sending | undefined;

  constructor(
    readonly host: Host,
    readonly call: RpcCall,
    readonly kind: MethodClass,
    /** The id the request carries. */
    readonly id: number,
    readonly startMs: number,
    readonly place: Sent,
    private readonly owner: AttemptOwner,
  ) {
    super();
  }

  get length(): number {
    return callLength(this.call);
  }

  writeTo(target: Buffer, at: number): number {
    return writeCall(target, at, this.call, this.id);
  }

  /** Begins to wait for the answer. @param timeoutMs - time allowed */
  follow(sending: Sending, timeoutMs: number): void {
    this.#sending = sending;
    timers.start(this, timeoutMs, this.startMs);
  }

  answered(answer: HttpAnswer): void {
    this.#end(this.host.judge(answer, this.id));
  }

  faulted(fault: ConnectionFault): void {
    this.#end(classifyFault(fault));
  }

  /** Gives it up: the caller left, or another upstream was faster. The owner is not told. */
  abort(): void {
    if (this.#isOver) return;
    this.#leave();
    this.endMs = this.host.conclude(this, { kind: "aborted" });
  }

  /** No answer came in time. */
  override due(): void {
    if (this.#isOver) return;
    const verdict = this.host.judgeTimeout(this.startMs);
    this.#sending?.drop();
    this.#end(verdict);
  }

  #end(verdict: Verdict): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.clear();
    this.endMs = this.host.conclude(this, verdict);
    this.owner.judged(this, verdict);
  }

  #leave(): void {
    this.#isOver = true;
    this.clear();
    this.#sending?.drop();
  }
}
