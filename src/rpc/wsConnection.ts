import type { Session } from "../access/index.ts";
import type { Config } from "../config/index.ts";
import type { Chain } from "../chains/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import type { AnswerMemory, ChainFeeds } from "../upstream/index.ts";
import {
  errorBytes,
  joinBatch,
  type RpcBody,
  type RpcFailure,
  unreachable,
  wholeOf,
} from "./answer.ts";
import type { RequestBody } from "./request.ts";
import type { RpcInput, RpcOutput, RpcService } from "./service.ts";
import { Notifier } from "./wsNotifier.ts";
import { Outbox } from "./wsOutbox.ts";
import { type Opened, Subscriptions } from "./wsSubscriptions.ts";

/** What the server gives to write to. */
export type ServerSocket = Bun.ServerWebSocket<unknown>;

/** Why the service ends a connection. Codes from 4000 on are ours (RFC 6455, section 7.4.2). */
export const closings = {
  invalidKey: { code: 4401, reason: "API key is no longer valid" },
  slow: { code: 4408, reason: "consumer is too slow" },
  allowance: { code: 4429, reason: "compute-unit allowance is used up" },
  internal: { code: 1011, reason: "internal error" },
  stopping: { code: 1001, reason: "service is stopping" },
} as const;

export type Closing = (typeof closings)[keyof typeof closings];

export interface ConnectionOptions {
  readonly service: RpcService;
  readonly session: Session;
  readonly chain: Chain;
  /** What can be subscribed to; undefined where the chain has no blocks to follow. */
  readonly feeds: ChainFeeds | undefined;
  readonly limits: Config["sockets"];
  /** Counts the answers that wait for room. */
  readonly memory: AnswerMemory;
  readonly clock: Clock;
  /** Called once the connection is gone. */
  readonly onClosed: () => void;
}

/** Time for the close frame to reach a peer that does not read, ms. */
const CLOSE_GRACE_MS = 1_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const tooManyInFlight: RpcFailure = {
  code: -32005,
  message: "too many requests in flight on this connection",
};
const internal: RpcFailure = { code: -32603, message: "Internal error" };

/**
 * One WebSocket: requests and batches with the meaning they have over HTTP, and subscriptions. Its
 * methods are called by the server.
 */
export class RpcConnection {
  readonly #gone = new AbortController();
  readonly #outbox: Outbox;
  readonly #notifier: Notifier;
  readonly #subscriptions: Subscriptions | undefined;
  #socket: ServerSocket | undefined;
  #inFlight = 0;
  #isClosing = false;
  #heardAtMs: number;
  #pingedAtMs: number;

  constructor(private readonly options: ConnectionOptions) {
    const { session, chain, feeds, limits, clock } = options;
    this.#heardAtMs = this.#pingedAtMs = clock.monotonic();
    const wire = {
      // 0: refused because of its own limit, which ours stays far below.
      send: (text: string) => this.#socket?.send(text) !== 0,
      bufferedBytes: () => this.#socket?.getBufferedAmount() ?? 0,
    };
    this.#outbox = new Outbox(wire, limits, clock, () => this.end(closings.slow));
    this.#notifier = new Notifier({
      session,
      chainId: chain.id,
      outbox: this.#outbox,
      maxQueuedBytes: limits.maxQueuedBytes,
      onOverflow: () => this.end(closings.slow),
      onFailure: (error) => this.end(closingOf(error)),
    });
    const { maxSubscriptions } = limits;
    this.#subscriptions =
      feeds &&
      new Subscriptions({
        feeds,
        maxSubscriptions,
        notify: (notification) => this.#notifier.push(notification),
        onOverflow: () => this.end(closings.slow),
      });
  }

  get subscriptionCount(): number {
    return this.#subscriptions?.size ?? 0;
  }

  open(socket: ServerSocket): void {
    this.#socket = socket;
  }

  message(_socket: ServerSocket, message: string | Uint8Array): void {
    this.#heardAtMs = this.options.clock.monotonic();
    if (this.#isClosing) return;
    void this.#serve(typeof message === "string" ? encoder.encode(message) : message);
  }

  drain(): void {
    this.#outbox.drained();
  }

  pong(): void {
    this.#heardAtMs = this.options.clock.monotonic();
  }

  close(): void {
    this.#release();
    this.#socket = undefined;
    this.#gone.abort();
    this.options.onClosed();
  }

  /** Ends the connection; what was already sent still arrives if the peer reads it. */
  end({ code, reason }: Closing): void {
    const socket = this.#socket;
    if (this.#isClosing || !socket) return;
    this.#release();
    socket.close(code, reason);
    // A peer that does not read never sees the close frame.
    void this.options.clock.sleep(CLOSE_GRACE_MS, this.#gone.signal).then(
      () => socket.terminate(),
      () => {},
    );
  }

  /** Checks that the key is still valid and the peer still there. */
  async check(): Promise<void> {
    const { session, clock, limits } = this.options;
    if (!(await session.isValid())) return this.end(closings.invalidKey);
    const nowMs = clock.monotonic();
    // Only who was asked and did not answer is gone; this process may have slept itself.
    if (this.#pingedAtMs > this.#heardAtMs) {
      if (nowMs - this.#pingedAtMs >= limits.pingMs) this.#socket?.terminate();
      return;
    }
    if (nowMs - this.#heardAtMs < limits.pingMs) return;
    this.#pingedAtMs = nowMs;
    this.#socket?.ping();
  }

  #release(): void {
    this.#isClosing = true;
    this.#subscriptions?.close();
    this.#notifier.close();
    this.#outbox.close();
  }

  async #serve(bytes: Uint8Array): Promise<void> {
    const request = this.options.service.read(bytes);
    const items = request.kind === "batch" ? request.items.length : 1;
    if (this.#inFlight + items > this.options.limits.maxInFlight) {
      // Who floods the connection and doesn't read what comes back is not waited for.
      if (!this.#outbox.hasRoom) return this.end(closings.slow);
      return this.#outbox.send(textOf(refusal(request, tooManyInFlight)));
    }
    this.#inFlight += items;
    try {
      await this.#answer(request, items);
    } catch (error) {
      if (this.#isClosing) return;
      if (error instanceof ApiError && error.code === "INVALID_API_KEY") {
        return this.end(closings.invalidKey);
      }
      await this.#send(refusal(request, failureOf(error)));
    } finally {
      this.#inFlight -= items;
    }
  }

  /** Answers a message; the answer leaves when it is charged. */
  async #answer(request: RequestBody, items: number): Promise<void> {
    const { session, chain } = this.options;
    const opened: Opened[] = [];
    const hold = await session.admit(items);
    try {
      const { status, body } = await this.#handle(request, opened);
      await this.#send(body, () => hold.settle(status, chain.id, this.#isClosing));
      for (const { begin } of opened.splice(0)) begin();
    } finally {
      for (const { cancel } of opened) cancel();
      await hold.settle(0, chain.id, true);
    }
  }

  async #handle(
    request: RequestBody,
    opened: Opened[],
  ): Promise<Pick<RpcOutput, "body"> & { status: number }> {
    const { service, session, chain } = this.options;
    try {
      const input: RpcInput = {
        chain,
        request,
        caller: session.keyId,
        admit() {},
        chargedChain() {},
        own: (call) => this.#subscriptions?.answer(call, opened),
      };
      return await service.handle(input, this.#gone.signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "UPSTREAM_UNREACHABLE") throw error;
      return { status: error.status, body: refusal(request, unreachable) };
    }
  }

  /** Sends an answer as soon as there is room. @param charge - done before it leaves */
  async #send(body: RpcBody, charge?: () => Promise<void>): Promise<void> {
    const lease = this.options.memory.hold(body.length);
    const done = await this.#outbox.reserve(body.length);
    try {
      await charge?.();
      this.#outbox.send(textOf(wholeOf(body)));
    } finally {
      done?.();
      lease.release();
    }
  }
}

function textOf(body: Uint8Array): string {
  return decoder.decode(body);
}

/** The same error for every request of a message. */
function refusal(request: RequestBody, failure: RpcFailure): Uint8Array<ArrayBuffer> {
  if (request.kind !== "batch") return errorBytes(request.id, failure);
  return joinBatch(request.items.map(({ id }) => errorBytes(id, failure)));
}

function failureOf(error: unknown): RpcFailure {
  if (!(error instanceof ApiError) || error.status !== 429) return internal;
  const retryAfterSeconds = Number(error.headers["retry-after"] ?? 1);
  return { code: -32005, message: error.message, data: { retryAfterSeconds } };
}

function closingOf(error: unknown): Closing {
  const code = error instanceof ApiError ? error.code : undefined;
  if (code === "INVALID_API_KEY") return closings.invalidKey;
  return code === "CU_ALLOWANCE_EXCEEDED" ? closings.allowance : closings.internal;
}
