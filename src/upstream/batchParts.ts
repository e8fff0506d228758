import { digitsAt, endOfValue, scanArray, valueOf } from "../lib/jsonSpan.ts";
import { pieceOf } from "../lib/piece.ts";
import type { HttpAnswer } from "./connection.ts";
import { AnswerScanner, type NodeAnswer } from "./nodeAnswer.ts";

/** An item of a batch that waits for its part of the answer. */
export interface BatchMember {
  readonly item: { readonly id: number };
  readonly isSettled: boolean;
  answered(answer: HttpAnswer): void;
}

/** One element of the array that answers a batch. */
export class BatchPart implements HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly isShared = true;

  constructor(
    { status, retryAfter }: HttpAnswer,
    readonly bytes: Uint8Array,
    /** The id it names, as a number whichever way the node wrote it. */
    readonly id: number | undefined,
    readonly answer: NodeAnswer | undefined,
  ) {
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

const noBytes = new Uint8Array(0);
const scanner = new AnswerScanner();

/**
 * Reads the answer to a batch.
 * @param maxItems - most elements it may have
 * @returns undefined when it is not an array, or has more
 */
export function readParts(answer: HttpAnswer, maxItems: number): BatchPart[] | undefined {
  const parts: BatchPart[] = [];
  const visit = (bytes: Uint8Array, start: number): number => {
    const isObject = scanner.look(bytes, start);
    const end = isObject ? scanner.end : endOfValue(bytes, start);
    if (end === -1) return end;
    const piece = pieceOf(bytes, start, end);
    const part = isObject
      ? new BatchPart(answer, piece, idOf(bytes), scanner.answerIn(bytes, piece))
      : new BatchPart(answer, piece, undefined, undefined);
    parts.push(part);
    return end;
  };
  return scanArray(answer.bytes, maxItems, visit) ? parts : undefined;
}

/**
 * Gives each item of a batch the part of the answer that carries its id, in whatever order they are.
 * A part without an id can still say, for those left out, that the pace was too high.
 */
export function deliverParts(
  items: readonly BatchMember[],
  answer: HttpAnswer,
  parts: readonly BatchPart[],
): void {
  let byId: Map<number, BatchMember> | undefined;
  let stray: BatchPart | undefined;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as BatchPart;
    // Most nodes answer in order.
    let item = items[index];
    if (item?.item.id !== part.id) {
      byId ??= new Map(items.map((one) => [one.item.id, one]));
      item = byId.get(part.id ?? 0);
    }
    if (item) item.answered(part);
    else stray ??= part;
  }
  if (items.every(({ isSettled }) => isSettled)) return;
  const rest = stray ?? new BatchPart(answer, noBytes, undefined, undefined);
  for (const item of items) item.answered(rest);
}

/** The id of the object that was looked at last. */
function idOf(bytes: Uint8Array): number | undefined {
  const { idStart: start, idEnd: end } = scanner;
  if (start === 0) return undefined;
  const plain = digitsAt(bytes, start, end);
  if (plain !== undefined) return plain;
  const value = valueOf(bytes, { start, end });
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}
