import { type RequestHead, type ShownKey, shownKey } from "../access/index.ts";

const CR_LF = "\r\n";
const LENGTH_NAME = "\r\ncontent-length:";
/** The line behind which a body begins, with the end of the line before it. */
export const HEAD_END = "\r\n\r\n";

/** What begins the paths whose requests the framework answers in this process. */
const FETCHED_PREFIX = "/api/public/";
/** Targets of such requests that nothing reads in two ways. */
const plainTarget = /^[A-Za-z0-9_/-]+(?:\?[A-Za-z0-9_.,:=&+%~-]*)?$/;

/** Segments of paths that every router reads alike: nothing escaped, nothing with a meaning. */
const plainSegment = /^[A-Za-z0-9_-]{1,64}$/;
/** Names are tokens, values visible ASCII; no line continues another (RFC 9112, section 5). */
const plainFields = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*\r\n)*$/;
const plainHost = /^[A-Za-z0-9.:[\]_-]+$/;
const plainLength = /^(?:0|[1-9][0-9]{0,9})$/;

/** Bodies said to be longer are the other server's to refuse. */
export const MAX_LENGTH = 1024 ** 3;

/** Fields that change what a body is or whose the connection will be. */
const foreignFields: ReadonlySet<string> = new Set([
  "transfer-encoding",
  "content-encoding",
  "expect",
  "upgrade",
  "http2-settings",
]);

/** The head of a request that the front takes. */
export class FrontHead implements RequestHead {
  readonly shown: ShownKey | undefined;

  /**
   * @param target - path and query
   * @param segment - the path's last segment, where the front answers itself; undefined: the
   *   framework does
   * @param closes - whether the client wants the connection closed behind the answer
   */
  constructor(
    readonly method: "GET" | "POST",
    readonly target: string,
    readonly segment: string | undefined,
    readonly closes: boolean,
    readonly fields: ReadonlyMap<string, string>,
  ) {
    this.shown = shownKey(this, false);
  }

  get path(): string {
    return this.target.split("?", 1)[0] ?? "";
  }

  get(name: string): string | null {
    return this.fields.get(name) ?? null;
  }
}

/** A head and where in its text the length of the body stands. */
export interface ParsedHead {
  readonly head: FrontHead;
  readonly length: number;
  /** Without a body: both where the head ends. */
  readonly lengthStart: number;
  readonly lengthEnd: number;
}

/** How the heads begin that may be for the front. */
export const headStarts: readonly string[] = [`POST ${FETCHED_PREFIX}`, `GET ${FETCHED_PREFIX}`];

/**
 * Reads the head of a request, if it is one that no two parsers could read differently.
 * @param text - from the method to the empty line, one character per byte
 * @param prefix - what the path begins with, before its last segment, of what is answered here
 * @returns undefined when it is for the other server, right or wrong
 */
export function parseHead(text: string, prefix: string): ParsedHead | undefined {
  const lineEnd = text.indexOf(CR_LF);
  const [method, target = "", version, ...more] = text.slice(0, lineEnd).split(" ");
  if (version !== "HTTP/1.1" || more.length > 0) return undefined;
  const fieldText = text.slice(lineEnd + 2, -2);
  const fields = plainFields.test(fieldText) ? readFields(fieldText) : undefined;
  const closes = fields && closesAfter(fields.get("connection"));
  if (!fields || closes === undefined) return undefined;
  if (!plainHost.test(fields.get("host") ?? "")) return undefined;

  if (!target.startsWith(FETCHED_PREFIX) || !plainTarget.test(target)) return undefined;
  const lengthText = fields.get("content-length");
  if (method === "GET") {
    if (lengthText !== undefined) return undefined;
    const head = new FrontHead(method, target, undefined, closes, fields);
    return { head, length: 0, lengthStart: text.length, lengthEnd: text.length };
  }
  if (method !== "POST" || lengthText === undefined) return undefined;
  if (!plainLength.test(lengthText)) return undefined;
  const length = Number(lengthText);
  if (length > MAX_LENGTH) return undefined;
  const nameEnd = text.toLowerCase().indexOf(LENGTH_NAME) + LENGTH_NAME.length;
  const lengthStart = text.indexOf(lengthText, nameEnd);
  const segment = target.startsWith(prefix) ? target.slice(prefix.length) : "";
  const own = plainSegment.test(segment) ? segment : undefined;
  const head = new FrontHead(method, target, own, closes, fields);
  return { head, length, lengthStart, lengthEnd: lengthStart + lengthText.length };
}

/** Fields by name in lower case; undefined when one comes twice or is for the other server. */
function readFields(text: string): Map<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split(CR_LF)) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    if (foreignFields.has(name) || fields.has(name)) return undefined;
    fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

/** undefined: the connection is to become something else. */
function closesAfter(connection: string | undefined): boolean | undefined {
  switch (connection?.toLowerCase()) {
    case undefined:
    case "keep-alive":
      return false;
    case "close":
      return true;
    default:
      return undefined;
  }
}
