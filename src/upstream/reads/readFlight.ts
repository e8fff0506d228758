import { Cancel } from "../../lib/cancel.ts";
import type { ChainPool } from "../chainPool.ts";
import {
  type Attempted,
  type Belief,
  type NodeReply,
  ReadRun,
  type ReadRules,
  type ReadTarget,
} from "../dispatch.ts";
import type { CallOptions } from "../types.ts";
import { neededHead, reviewAnswer, type View } from "./belief.ts";
import type { ReadCall } from "./blockRefs.ts";
import { highestBlock } from "./observed.ts";
import { Flight, type Flights, type Passenger } from "./sharing.ts";

/** Sends an `eth_getLogs` over a range, in as many pieces as nodes ask for. */
export type RangeReader = (read: ReadCall, view: View, options: CallOptions) => Promise<NodeReply>;

/** A reply, and the highest block it shows. */
export interface Shown {
  readonly reply: NodeReply;
  readonly block: number | undefined;
}

/** What a flight needs of the reader it belongs to. */
export interface FlightHost {
  readonly pool: ChainPool;
  readonly readRange: RangeReader;
  readonly flights: Flights<Shown>;
  /** Called once with what was brought, before the passengers are, where it is a result. */
  readonly arrived: (shown: Shown) => void;
}

/** A read sent to nodes for all who ask the same, by the rules of the one who began it. */
export class ReadFlight extends Flight<Shown> implements ReadTarget, ReadRules {
  readonly method: string;
  #end: (() => void) | undefined;

  constructor(
    private readonly host: FlightHost,
    private readonly plan: {
      readonly read: ReadCall;
      readonly view: View;
      readonly key: string;
      readonly deadlineMs: number | undefined;
    },
    begunAt: number,
    minHead: number,
    pilot: Passenger<Shown>,
  ) {
    super(host.flights, plan.key, begunAt, minHead, pilot);
    this.method = plan.read.call.method;
  }

  start(): void {
    const { read, deadlineMs } = this.plan;
    if (read.call.method === "eth_getLogs" && read.refs.kind === "range") return this.#readRange();
    const run = new ReadRun(this.host.pool, read.call, deadlineMs, this, this);
    this.#end = () => run.abort();
    run.start();
  }

  minHead(): number {
    const { read, view } = this.plan;
    return neededHead(read, view, this.host.pool);
  }

  review(attempt: Attempted): Belief | Promise<Belief> {
    return reviewAnswer(this.host.pool, this.plan.read, this.minHead(), attempt);
  }

  replied(reply: NodeReply): void {
    const { method } = this.plan.read;
    if (!method || reply.isError) return this.arrive({ reply, block: undefined });
    const shown = { reply, block: highestBlock(method.evidence, reply.answer) };
    this.host.arrived(shown);
    this.arrive(shown);
  }

  failed(error: unknown): void {
    this.crash(error);
  }

  protected cancel(): void {
    this.#end?.();
  }

  #readRange(): void {
    const { read, view, deadlineMs } = this.plan;
    const cancel = new Cancel();
    this.#end = () => cancel.abort(new Error("nobody waits for the answer"));
    const limits = deadlineMs === undefined ? {} : { deadlineMs };
    this.host.readRange(read, view, { signal: cancel, ...limits }).then(
      (reply) => cancel.aborted || this.replied(reply),
      (error: unknown) => cancel.aborted || this.failed(error),
    );
  }
}
