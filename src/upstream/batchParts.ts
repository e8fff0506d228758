import { findMembers, type Span, valueOf } from "../lib/jsonSpan.ts";
import { pieceOf } from "../lib/piece.ts";
import type { HttpAnswer } from "./connection.ts";

/** An item of a batch that waits for its part of the answer. */
export interface BatchMember {
  readonly item: { readonly id: number };
  readonly isSettled: boolean;
  answered(answer: HttpAnswer): void;
}

const wanted = ["id"] as const;

/**
 * Gives each item of a batch the part of the answer that carries its id, in whatever order they are.
 * A part without an id can still say, for those left out, that the pace was too high.
 */
export function deliverParts(
  items: readonly BatchMember[],
  answer: HttpAnswer,
  parts: readonly Span[],
): void {
  let byId: Map<number, BatchMember> | undefined;
  let stray: Span | undefined;
  for (const [index, part] of parts.entries()) {
    const id = idOf(answer.bytes, part) ?? 0;
    // Most nodes answer in order.
    let item = items[index];
    if (item?.item.id !== id) {
      byId ??= new Map(items.map((one) => [one.item.id, one]));
      item = byId.get(id);
    }
    if (item) item.answered(partOf(answer, part));
    else stray ??= part;
  }
  if (items.every(({ isSettled }) => isSettled)) return;
  const rest = stray ? partOf(answer, stray) : partOf(answer, { start: 0, end: 0 });
  for (const item of items) item.answered(rest);
}

function partOf(answer: HttpAnswer, { start, end }: Span): HttpAnswer {
  return { ...answer, bytes: pieceOf(answer.bytes, start, end), isShared: true };
}

/** The id of an answer, as a number whichever way the node wrote it. */
function idOf(bytes: Uint8Array, part: Span): number | undefined {
  const [id] = findMembers(bytes, part, wanted) ?? [];
  if (!id) return undefined;
  const plain = digitsOf(bytes, id);
  if (plain !== undefined) return plain;
  const value = valueOf(bytes, id);
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}

/** The number a few digits stand for; undefined where there is anything else. */
function digitsOf(bytes: Uint8Array, { start, end }: Span): number | undefined {
  if (end - start > 10) return undefined;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}
