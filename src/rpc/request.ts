import {
  findElements,
  isText,
  MemberScanner,
  scanDocument,
  textOf,
  valueOf,
} from "../lib/jsonSpan.ts";
import type { Part } from "../lib/spliced.ts";
import type { RpcCall } from "../upstream/index.ts";
import { MethodNames } from "./methodNames.ts";

/** JSON text of a request's id, where it stands in the request. */
export type RequestId = Part;

/** A request object that may be answered. */
export interface ValidItem extends RpcCall {
  readonly kind: "call";
  readonly id: RequestId;
}

/** One request object, valid or not. */
export type RequestItem =
  | ValidItem
  /** `id` is the request's own where it could be read, else null. */
  | { readonly kind: "invalid"; readonly id: RequestId };

/** What a body holds: one request, valid or not, or an array of them. */
export type RequestBody =
  RequestItem | { readonly kind: "batch"; readonly items: readonly RequestItem[] };

const members = new MemberScanner(["jsonrpc", "id", "method", "params"]);
const [VERSION, ID, METHOD, PARAMS] = [0, 1, 2, 3];
const names = new MethodNames();

const nullBytes = new TextEncoder().encode("null");
/** The id in answers to what has none. */
export const nullId: RequestId = { bytes: nullBytes, start: 0, end: nullBytes.length };
const invalidItem: RequestItem = { kind: "invalid", id: nullId };

/** Integers keep every digit; a fraction or an exponent would come back changed from some clients. */
const integerText = /^-?(?:0|[1-9][0-9]*)$/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;

/**
 * Reads a body as JSON-RPC 2.0 without parsing values: ids and params stay the text they are.
 * @param maxItems - most members of an array; an empty or longer one is invalid
 * @param from - where the body begins; it ends with the bytes
 */
export function readRequestBody(bytes: Uint8Array, maxItems: number, from = 0): RequestBody {
  if (members.scan(bytes, from)) return readItem(bytes);
  const document = scanDocument(bytes, from);
  const elements = document && findElements(bytes, document, maxItems);
  if (!elements || elements.length === 0 || elements.length > maxItems) return invalidItem;
  const items = elements.map(({ start }) =>
    members.look(bytes, start) ? readItem(bytes) : invalidItem,
  );
  return { kind: "batch", items };
}

/** Reads the object that was scanned last. */
function readItem(bytes: Uint8Array): RequestItem {
  const id = readId(bytes);
  if (!id) return invalidItem;
  const method = isVersion(bytes) ? readMethod(bytes) : undefined;
  const paramsAt = members.startOf(PARAMS);
  if (!method || (paramsAt !== 0 && bytes[paramsAt] !== OPEN_BRACKET)) {
    return { kind: "invalid", id };
  }
  const params = members.spanOf(PARAMS);
  return { kind: "call", id, method, params: params && textOf(bytes, params) };
}

function readId(bytes: Uint8Array): RequestId | undefined {
  const start = members.startOf(ID);
  const end = members.endOf(ID);
  if (start === 0) return undefined;
  const isKept = bytes[start] === QUOTE || isDigits(bytes, start, end);
  if (!isKept && !integerText.test(textOf(bytes, { start, end }))) return undefined;
  return { bytes, start, end };
}

/** Whether a number is written in digits alone. */
function isDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return true;
}

function isVersion(bytes: Uint8Array): boolean {
  if (isText(bytes, members.startOf(VERSION), members.endOf(VERSION), '"2.0"')) return true;
  return readString(bytes, VERSION) === "2.0";
}

function readMethod(bytes: Uint8Array): string | undefined {
  const start = members.startOf(METHOD) + 1;
  const end = members.endOf(METHOD) - 1;
  if (bytes[start - 1] !== QUOTE) return undefined;
  return isPlain(bytes, start, end) ? names.read(bytes, start, end) : readString(bytes, METHOD);
}

/** Whether a text stands as it is between its quotes, as names of methods do. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return false;
  return true;
}

function readString(bytes: Uint8Array, index: number): string | undefined {
  const span = members.spanOf(index);
  if (!span || bytes[span.start] !== QUOTE) return undefined;
  const value = valueOf(bytes, span);
  return typeof value === "string" ? value : undefined;
}
