import {
  findElements,
  findMembers,
  isText,
  scanDocument,
  scanObject,
  type Span,
  textOf,
  valueOf,
} from "../lib/jsonSpan.ts";
import type { RpcCall } from "../upstream/index.ts";

/** A request object that may be answered. `id` is JSON text. */
export interface ValidItem {
  readonly valid: true;
  readonly id: string;
  readonly call: RpcCall;
}

/** One request object, valid or not. */
export type RequestItem =
  | ValidItem
  /** `id` is JSON text: the request's own where it could be read, else null. */
  | { readonly valid: false; readonly id: string };

/** What a body holds: one request, an array of them, or neither. */
export type RequestBody =
  | { readonly kind: "single"; readonly item: RequestItem }
  | { readonly kind: "batch"; readonly items: readonly RequestItem[] }
  | { readonly kind: "invalid" };

const memberNames = ["jsonrpc", "id", "method", "params"] as const;
const invalidItem: RequestItem = { valid: false, id: "null" };

/** Integers keep every digit; a fraction or an exponent would come back changed from some clients. */
const integerText = /^-?(?:0|[1-9][0-9]*)$/;

/**
 * Reads a body as JSON-RPC 2.0 without parsing values: ids and params stay the text they are.
 * @param maxItems - most members of an array; an empty or longer one is invalid
 */
export function readRequestBody(bytes: Uint8Array, maxItems: number): RequestBody {
  const object = scanObject(bytes, memberNames);
  if (object) return { kind: "single", item: readItem(bytes, object.members) };
  const document = scanDocument(bytes);
  if (!document) return { kind: "invalid" };
  const elements = findElements(bytes, document, maxItems);
  if (!elements) return { kind: "single", item: invalidItem };
  if (elements.length === 0 || elements.length > maxItems) return { kind: "invalid" };
  return { kind: "batch", items: elements.map((element) => readElement(bytes, element)) };
}

function readElement(bytes: Uint8Array, element: Span): RequestItem {
  const members = findMembers(bytes, element, memberNames);
  return members ? readItem(bytes, members) : invalidItem;
}

function readItem(bytes: Uint8Array, members: readonly (Span | undefined)[]): RequestItem {
  const [version, idSpan, methodSpan, params] = members;
  const id = readId(bytes, idSpan);
  if (id === undefined) return invalidItem;
  const method = readString(bytes, methodSpan);
  const isArray = params === undefined || bytes[params.start] === 0x5b;
  if (!isVersion(bytes, version) || !method || !isArray) return { valid: false, id };
  return { valid: true, id, call: { method, params: params && textOf(bytes, params) } };
}

function readId(bytes: Uint8Array, span: Span | undefined): string | undefined {
  if (!span) return undefined;
  const text = textOf(bytes, span);
  return text.startsWith('"') || integerText.test(text) ? text : undefined;
}

function isVersion(bytes: Uint8Array, span: Span | undefined): boolean {
  if (span && isText(bytes, span, '"2.0"')) return true;
  return readString(bytes, span) === "2.0";
}

/** Whether a text stands as it is between its quotes, as names of methods do. */
function isPlain(bytes: Uint8Array, { start, end }: Span): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === 0x5c) return false;
  return true;
}

function readString(bytes: Uint8Array, span: Span | undefined): string | undefined {
  if (!span || bytes[span.start] !== 0x22) return undefined;
  const inner = { start: span.start + 1, end: span.end - 1 };
  if (isPlain(bytes, inner)) return textOf(bytes, inner);
  const value = valueOf(bytes, span);
  return typeof value === "string" ? value : undefined;
}
