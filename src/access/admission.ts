import type { Awaitable } from "../db/index.ts";
import { ApiError, type ErrorCode, errorCatalogue } from "../lib/errors.ts";
import type { FieldSink, FieldSource } from "../lib/http.ts";
import { turnTimeMs } from "../lib/turnTime.ts";
import type { Access } from "./access.ts";
import type { Reservation } from "./allowance.ts";
import { monthOf } from "./allowance.ts";
import { type RequestHead, RuntimeHead } from "./head.ts";
import type { ApiKey } from "./keys.ts";
import type { ChargeTarget } from "./meter.ts";
import { type OperationId, operations } from "./operations.ts";
import { newRequestIdEnding, requestIdPart } from "./requestId.ts";
import type { WindowDecision } from "./window.ts";

/** What a handler may know about the caller it serves. */
export interface Admission {
  readonly key: ApiKey;
  readonly keyId: string;
  readonly environment: ApiKey["environment"];
  readonly operation: OperationId;
  /** Where the key stands in its rate window. */
  readonly window: WindowDecision;
}

/** Told of every answer: operation id or `other`, status, and seconds since the request came. */
export type RequestObserver = (operation: string, status: number, seconds: number) => void;

const always = () => true;

/** Fields that depend on few things, as made for the last answer: mostly the next has the same. */
class SteadyFields {
  #limit = -1;
  #resetS = -1;
  #cu = -1;
  #idPart = "";
  #text = "";

  of({ limit, resetAt }: WindowDecision, cu: number, idPart: string): string {
    const resetS = Math.ceil(resetAt / 1_000);
    const isWindow = limit === this.#limit && resetS === this.#resetS;
    if (isWindow && cu === this.#cu && idPart === this.#idPart) return this.#text;
    this.#limit = limit;
    this.#resetS = resetS;
    this.#cu = cu;
    this.#idPart = idPart;
    const reset = `x-ratelimit-limit: ${limit}\r\nx-ratelimit-reset: ${resetS}\r\n`;
    this.#text = `${reset}x-cu-cost: ${cu}\r\nx-request-id: ${idPart}`;
    return this.#text;
  }
}

const steady = new SteadyFields();

/** One request on its way through the gate. */
export class Passage implements FieldSource, ChargeTarget {
  readonly #idEnding = newRequestIdEnding();
  readonly #idPart = requestIdPart();
  /** The key, once it was found valid. */
  key: ApiKey | undefined;
  window: WindowDecision | undefined;
  /** The operation, once the request was let in. */
  operation: OperationId | undefined;
  /** What is held of the key's allowance; undefined: nothing. */
  reservations: Reservation[] | undefined;
  /** Requests the answer stands for: 1, or the items of a batch. */
  items = 1;
  chainId: number | undefined;
  chargedCu = 0;
  /** Of a connection that stays open: whether its key, as it is now, could still open it. */
  mayStayOpen: (key: ApiKey) => boolean = always;
  readonly #startedAtMs: number;
  /** What is being charged, and who is told when it is. */
  #owedCu = 0;
  #target: ChargeTarget | undefined;

  /** @param observer - told of the answer */
  constructor(
    readonly access: Access,
    readonly head: RequestHead,
    private readonly observer: RequestObserver,
  ) {
    this.#startedAtMs = turnTimeMs();
  }

  get requestId(): string {
    return this.#idPart + this.#idEnding;
  }

  /** Says what is about to be charged. @param target - told when it is */
  awaitCharge(cu: number, target: ChargeTarget): void {
    this.#owedCu = cu;
    this.#target = target;
  }

  charged(error: unknown): void {
    if (error === undefined) this.chargedCu = this.#owedCu;
    this.release();
    this.#target?.charged(error);
  }

  /** Settles what was held: what was charged is spent, the rest is free again. */
  release(): void {
    if (!this.reservations) return;
    let unspentCu = this.chargedCu;
    for (const reservation of this.reservations.splice(0)) {
      reservation.settle(unspentCu);
      unspentCu = 0;
    }
  }

  /** The fields every answer carries, and those of authenticated ones, up to the request's id. */
  steadyFields(): string {
    const { window, chargedCu } = this;
    if (!window) return `x-request-id: ${this.#idPart}`;
    return steady.of(window, chargedCu, this.#idPart);
  }

  writeFields(to: FieldSink): void {
    const { window, access } = this;
    to.text(this.#idEnding);
    if (window) {
      to.text("\r\nx-ratelimit-remaining: ");
      to.number(window.remaining);
    }
    to.text(access.isDraining ? "\r\nconnection: close\r\n" : "\r\n");
  }

  /** Notes the answer's status, for metrics. */
  observe(status: number): void {
    const seconds = (turnTimeMs() - this.#startedAtMs) / 1_000;
    this.observer(this.operation ?? "other", status, seconds);
  }
}

const passages = new WeakMap<Request, Passage>();

/** Starts to follow a request. */
export function openPassage(request: Request, access: Access, observer: RequestObserver): Passage {
  const passage = new Passage(access, new RuntimeHead(request), observer);
  passages.set(request, passage);
  return passage;
}

/** The request's way through the gate; undefined when it never came to it. */
export function passageOf(request: Request): Passage | undefined {
  return passages.get(request);
}

/** Shows the key's holder an error answer later on. */
export function noteFailure(
  passage: Passage,
  { status, code, message }: { status: number; code: ErrorCode; message?: string },
): void {
  const { key, operation, requestId, access, head } = passage;
  if (!key) return;
  access.activity.failed({
    keyId: key.id,
    requestId,
    operation: operation ?? null,
    method: head.method,
    path: head.path,
    status,
    code,
    message: message ?? errorCatalogue[code].message,
  });
}

/**
 * Who is calling, as the gate found out.
 * @throws ApiError `INVALID_API_KEY` when the gate did not let the request in
 */
export function admissionOf(request: Request): Admission {
  const { key, operation, window } = admitted(request);
  return { key, keyId: key.id, environment: key.environment, operation, window };
}

/**
 * Whether a key belongs to whom the calling key belongs to: the same account, or the operator.
 * @throws ApiError `INVALID_API_KEY` when the gate did not let the request in
 */
export async function isOfSameOwner(request: Request, keyId: string): Promise<boolean> {
  const { key, access } = admitted(request);
  return keyId === key.id || (await access.keys.show(keyId))?.accountId === key.accountId;
}

/**
 * Counts a batch as the number of requests it stands for: takes `n` − 1 more from the rate window
 * and holds their compute units, all or none.
 * @throws ApiError `RATE_LIMIT_EXCEEDED`, `CU_ALLOWANCE_EXCEEDED`
 */
export async function admitItems(passage: Admitted, n: number): Promise<void> {
  const more = n - passage.items;
  if (more <= 0) return;
  // Units can be given back, requests of a window cannot; so the window comes last.
  await holdUnits(passage, passage.key, operations[passage.operation].cu * more);
  await takeFromWindow(passage, passage.key, more);
  passage.items = n;
}

/** Says which chain the request's charge is entered under. */
export function setChargedChain(request: Request, chainId: number): void {
  admitted(request).chainId = chainId;
}

/**
 * Takes requests from the key's window and notes where it stands.
 * @throws ApiError `RATE_LIMIT_EXCEEDED`
 */
export function takeFromWindow(passage: Passage, key: ApiKey, n: number): Awaitable<void> {
  const { window, defaultWindowLimit } = passage.access;
  const decision = window.take(key.id, n, key.windowLimit ?? defaultWindowLimit);
  if (decision instanceof Promise) return decision.then((late) => noteWindow(passage, late));
  return noteWindow(passage, decision);
}

function noteWindow(passage: Passage, decision: WindowDecision): void {
  passage.window = decision;
  if (decision.allowed) return;
  throw new ApiError("RATE_LIMIT_EXCEEDED", undefined, {
    "retry-after": retryAfterSeconds(decision.resetAt, passage.access.clock.now()),
  });
}

/**
 * Holds compute units of the key's allowance until the answer.
 * @throws ApiError `CU_ALLOWANCE_EXCEEDED`
 */
export function holdUnits(passage: Passage, key: ApiKey, cu: number): Awaitable<void> {
  // Nothing is held of an allowance without bound.
  if (key.cuAllowance === null) return;
  const holding = passage.access.meter.reserve(key, cu);
  if (holding instanceof Promise) return holding.then((held) => noteHeld(passage, held));
  return noteHeld(passage, holding);
}

function noteHeld(passage: Passage, reservation: Reservation | undefined): void {
  if (reservation) {
    (passage.reservations ??= []).push(reservation);
    return;
  }
  const now = passage.access.clock.now();
  throw new ApiError("CU_ALLOWANCE_EXCEEDED", undefined, {
    "retry-after": retryAfterSeconds(monthOf(now).end, now),
  });
}

function retryAfterSeconds(at: number, now: number): string {
  return String(Math.max(1, Math.ceil((at - now) / 1000)));
}

/** A passage the gate let in. */
export type Admitted = Passage & { key: ApiKey; operation: OperationId; window: WindowDecision };

/** @throws ApiError `INVALID_API_KEY` when the gate did not let the request in */
export function admitted(request: Request): Admitted {
  const passage = passages.get(request);
  if (!passage || !isAdmitted(passage)) throw new ApiError("INVALID_API_KEY");
  return passage;
}

/** Whether the gate let a request in. */
export function isAdmitted(passage: Passage): passage is Admitted {
  return passage.operation !== undefined;
}
