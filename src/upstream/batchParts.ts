import { digitsAt, MemberScanner, type Span, valueOf } from "../lib/jsonSpan.ts";
import { pieceOf } from "../lib/piece.ts";
import type { HttpAnswer } from "./connection.ts";

/** An item of a batch that waits for its part of the answer. */
export interface BatchMember {
  readonly item: { readonly id: number };
  readonly isSettled: boolean;
  answered(answer: HttpAnswer): void;
}

const members = new MemberScanner(["id"]);

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
  const { status, retryAfter, bytes } = answer;
  return { status, retryAfter, bytes: pieceOf(bytes, start, end), isShared: true };
}

/** The id of an answer, as a number whichever way the node wrote it. */
function idOf(bytes: Uint8Array, part: Span): number | undefined {
  if (!members.look(bytes, part.start) || !members.has(0)) return undefined;
  const plain = digitsAt(bytes, members.startOf(0), members.endOf(0));
  if (plain !== undefined) return plain;
  const value = valueOf(bytes, { start: members.startOf(0), end: members.endOf(0) });
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}
