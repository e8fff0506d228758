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
import type { NodeAnswer } from "../nodeAnswer.ts";
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

/** The reader a flight belongs to. */
export interface FlightHost {
  readonly pool: ChainPool;
  readonly readRange: RangeReader;
  readonly flights: Flights<Shown>;
  /** Grows with each reorganisation. */
  readonly generation: number;
  /** Told what was brought, before the passengers are, where it is a result. */
  brought(flight: ReadFlight, shown: Shown): void;
}

/** A read sent to nodes for all who ask the same, by the rules of the one who began it. */
export class ReadFlight extends Flight<Shown> implements ReadTarget, ReadRules {
  /** As the reader's when it began. */
  readonly generation: number;
  #underWay: { abort(): void } | undefined;

  constructor(
    private readonly host: FlightHost,
    readonly read: ReadCall,
    private readonly view: View,
    key: string,
    hash: number,
    begunAt: number,
    minHead: number,
    pilot: Passenger<Shown>,
  ) {
    super(host.flights, read.call.method, key, hash, begunAt, minHead, pilot);
    this.generation = host.generation;
  }

  start(deadlineMs: number | undefined): void {
    const { call, refs } = this.read;
    if (call.method === "eth_getLogs" && refs.kind === "range") return this.#readRange(deadlineMs);
    const run = new ReadRun(this.host.pool, call, deadlineMs, this, this);
    this.#underWay = run;
    run.start();
  }

  minHead(): number {
    return neededHead(this.read, this.view, this.host.pool);
  }

  review(attempt: Attempted, answer: NodeAnswer): Belief | Promise<Belief> {
    return reviewAnswer(this.host.pool, this.read, this, attempt, answer);
  }

  replied(reply: NodeReply): void {
    const { method } = this.read;
    if (!method || reply.isError) return this.arrive({ reply, block: undefined });
    const shown = { reply, block: highestBlock(method.evidence, reply.answer) };
    this.host.brought(this, shown);
    this.arrive(shown);
  }

  failed(error: unknown): void {
    this.crash(error);
  }

  protected cancel(): void {
    this.#underWay?.abort();
  }

  #readRange(deadlineMs: number | undefined): void {
    const { read, view } = this;
    const cancel = new Cancel();
    this.#underWay = cancel;
    const limits = deadlineMs === undefined ? {} : { deadlineMs };
    this.host.readRange(read, view, { signal: cancel, ...limits }).then(
      (reply) => cancel.aborted || this.replied(reply),
      (error: unknown) => cancel.aborted || this.failed(error),
    );
  }
}
