import {
  findElements,
  findMembers,
  scanDocument,
  type Span,
  textOf,
  valueOf,
} from "../lib/jsonSpan.ts";
import type { RpcCall } from "../upstream/index.ts";

/** One request object, valid or not. */
export type RequestItem =
  | { readonly valid: true; readonly id: string; readonly call: RpcCall }
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
  const document = scanDocument(bytes);
  if (!document) return { kind: "invalid" };
  const elements = findElements(bytes, document, maxItems);
  if (!elements) return { kind: "single", item: readItem(bytes, document) };
  if (elements.length === 0 || elements.length > maxItems) return { kind: "invalid" };
  return { kind: "batch", items: elements.map((element) => readItem(bytes, element)) };
}

function readItem(bytes: Uint8Array, span: Span): RequestItem {
  const members = findMembers(bytes, span, memberNames);
  if (!members) return invalidItem;
  const [version, idSpan, methodSpan, params] = members;
  const id = readId(bytes, idSpan);
  if (id === undefined) return invalidItem;
  const method = readString(bytes, methodSpan);
  const isArray = params === undefined || bytes[params.start] === 0x5b;
  if (readString(bytes, version) !== "2.0" || !method || !isArray) return { valid: false, id };
  return { valid: true, id, call: { method, params: params && textOf(bytes, params) } };
}

function readId(bytes: Uint8Array, span: Span | undefined): string | undefined {
  if (!span) return undefined;
  const text = textOf(bytes, span);
  return text.startsWith('"') || integerText.test(text) ? text : undefined;
}

function readString(bytes: Uint8Array, span: Span | undefined): string | undefined {
  if (!span || bytes[span.start] !== 0x22) return undefined;
  const value = valueOf(bytes, span);
  return typeof value === "string" ? value : undefined;
}
