import { type RequestHead, type ShownKey, shownKey } from "../access/index.ts";

const CR_LF = "\r\n";
/** The line behind which a body begins, with the end of the line before it. */
export const HEAD_END = "\r\n\r\n";

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

/** The head of a request that the front answers. */
export class FrontHead implements RequestHead {
  readonly method = "POST";
  readonly shown: ShownKey | undefined;

  /**
   * @param segment - the path's last segment
   * @param closes - whether the client wants the connection closed behind the answer
   */
  constructor(
    readonly path: string,
    readonly segment: string,
    readonly closes: boolean,
    private readonly fields: ReadonlyMap<string, string>,
  ) {
    this.shown = shownKey(this, false);
  }

  get(name: string): string | null {
    return this.fields.get(name) ?? null;
  }
}

/** A head and where in its text the length of the body stands. */
export interface ParsedHead {
  readonly head: FrontHead;
  readonly length: number;
  readonly lengthStart: number;
  readonly lengthEnd: number;
}

/**
 * Reads the head of a request, if it is one that no two parsers could read differently.
 * @param text - from the method to the empty line, one character per byte
 * @param prefix - what the path begins with, before its last segment
 * @returns undefined when it is for the other server, right or wrong
 */
export function parseHead(text: string, prefix: string): ParsedHead | undefined {
  const lineEnd = text.indexOf(CR_LF);
  const line = text.slice(0, lineEnd);
  if (!line.startsWith(`POST ${prefix}`) || !line.endsWith(" HTTP/1.1")) return undefined;
  const path = line.slice("POST ".length, -" HTTP/1.1".length);
  const segment = path.slice(prefix.length);
  const fieldText = text.slice(lineEnd + 2, -2);
  if (!plainSegment.test(segment) || !plainFields.test(fieldText)) return undefined;

  const fields = readFields(fieldText);
  const closes = fields && closesAfter(fields.get("connection"));
  if (!fields || closes === undefined) return undefined;
  const lengthText = fields.get("content-length") ?? "";
  const length = Number(lengthText);
  if (!plainHost.test(fields.get("host") ?? "") || !plainLength.test(lengthText)) return undefined;
  if (length > MAX_LENGTH) return undefined;
  const nameAt = text.toLowerCase().indexOf("\r\ncontent-length:");
  const lengthStart = text.indexOf(lengthText, nameAt + "\r\ncontent-length:".length);
  const head = new FrontHead(path, segment, closes, fields);
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
