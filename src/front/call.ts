import {
  type Access,
  type Check,
  conclude,
  type createErrorAnswers,
  isAdmitted,
  Passage,
  type RequestObserver,
  settle,
} from "../access/index.ts";
import { Cancel } from "../lib/cancel.ts";
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
  answer(body: Buffer): void;
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
 * One request on its way through the gate, the route and the charge, and the signal that its
 * client left. Nothing is waited for where nothing has to be.
 */
export class Call extends Cancel implements Pending, Replies {
  readonly passage: Passage;

  constructor(
    private readonly context: CallContext,
    private readonly owner: CallOwner,
    readonly head: FrontHead,
  ) {
    super();
    this.passage = new Passage(context.access, head, context.observer);
  }

  check(): void {
    const { context, owner, passage } = this;
    try {
      const checking = context.check(passage, owner.peer, context.route.operation);
      if (checking)
        checking.then(
          () => owner.admitted(this),
          (error) => this.fail(error),
        );
      else owner.admitted(this);
    } catch (error) {
      this.fail(error);
    }
  }

  answer(body: Buffer): void {
    const { context, passage } = this;
    const { segment = "" } = this.head;
    if (!isAdmitted(passage)) return this.fail(new ApiError("INVALID_API_KEY"));
    try {
      context.route.answer({ segment, body, passage, signal: this }, this);
    } catch (error) {
      this.fail(error);
    }
  }

  refuseBody(): void {
    this.reply(this.context.route.tooLarge());
  }

  reply(answer: PlainAnswer): void {
    settle(this.passage, answer.status, this.aborted, (error) => {
      if (error !== undefined) return this.fail(error);
      conclude(this.passage, answer);
      this.owner.answered(this, answer);
    });
  }

  fail(error: unknown): void {
    const { context, head, passage } = this;
    const answer = context.answerTo({ error, code: "UNKNOWN", head, passage });
    this.owner.answered(this, answer);
  }
}
