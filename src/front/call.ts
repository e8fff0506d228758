import {
  type Access,
  type ChargeTarget,
  type Check,
  conclude,
  type createErrorAnswers,
  isAdmitted,
  Passage,
  type RequestObserver,
  settle,
} from "../access/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { PlainAnswer } from "../lib/http.ts";
import type { FrontHead } from "./head.ts";
import type { FrontRoute, Replies } from "./route.ts";

/** What every call needs of the service. */
export interface CallContext {
  readonly access: Access;
  readonly check: Check;
  readonly answerTo: ReturnType<typeof createErrorAnswers>;
  readonly observer: RequestObserver;
  readonly route: FrontRoute;
}

/** A request under way. */
export interface Pending {
  readonly head: FrontHead;
  /** Asks whether its body is wanted. */
  check(): void;
  /** @param bodyAt - where in the bytes the body begins; it ends with them */
  answer(bytes: Buffer, bodyAt: number): void;
  /** Its body is too large. */
  refuseBody(): void;
  /** Its client left. */
  abort(): void;
}

/** The connection a call came over. */
export interface CallOwner {
  /** Address of the client. */
  readonly peer: () => string | undefined;
  /** The gate let the call in; its body is wanted. */
  admitted(call: Pending): void;
  /** The answer may leave. */
  answered(call: Pending, answer: PlainAnswer): void;
  /** There will be no answer. */
  broken(call: Pending): void;
}

/**
 * One request on its way through the gate, the route and the charge. Nothing is waited for where
 * nothing has to be.
 */
export class Call implements Pending, Replies, ChargeTarget {
  readonly passage: Passage;
  /** Whether its answer is known, or nobody waits for it. */
  #isOver = false;
  /** What is told once it is charged; undefined: nobody is there to be told. */
  #answer: PlainAnswer | undefined;
  #work: { abort(): void } | undefined;

  constructor(
    private readonly context: CallContext,
    private readonly owner: CallOwner,
    readonly head: FrontHead,
  ) {
    this.passage = new Passage(context.access, head, context.observer);
  }

  check(): void {
    const { context, owner, passage } = this;
    try {
      const checking = context.check(passage, owner.peer, context.route.operation);
      if (!checking) return owner.admitted(this);
      checking.then(
        () => this.#letIn(),
        (error) => this.fail(error),
      );
    } catch (error) {
      this.fail(error);
    }
  }

  #letIn(): void {
    // Who left meanwhile gives back what the gate has held for it.
    if (this.#isOver) this.passage.release();
    else this.owner.admitted(this);
  }

  answer(bytes: Buffer, bodyAt: number): void {
    const { context, passage } = this;
    const { segment = "" } = this.head;
    if (!isAdmitted(passage)) return this.fail(new ApiError("INVALID_API_KEY"));
    try {
      this.#work = context.route.answer({ segment, bytes, bodyAt, passage }, this);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The client hung up: what was begun for it ends, and is not charged. */
  abort(): void {
    if (this.#isOver) return;
    this.#work?.abort();
    this.#isOver = true;
    settle(this.passage, GONE, true, this);
  }

  refuseBody(): void {
    this.reply(this.context.route.tooLarge());
  }

  reply(answer: PlainAnswer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#answer = answer;
    settle(this.passage, answer.status, false, this);
  }

  charged(error: unknown): void {
    const answer = this.#answer;
    if (!answer) return this.passage.observe(GONE);
    if (error !== undefined) return this.#tellError(error);
    conclude(this.passage, answer);
    this.owner.answered(this, answer);
  }

  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tellError(error);
  }

  #tellError(error: unknown): void {
    const { context, head, passage } = this;
    const answer = context.answerTo({ error, code: "UNKNOWN", head, passage });
    this.owner.answered(this, answer);
  }
}

/** Status under which a request is counted whose client has left. */
const GONE = 499;
