import { HeadShape } from "../../lib/headShape.ts";

/** How the end of a body is told (RFC 9112, section 6.3). */
export type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  /** The body ends with the connection. */
  | { readonly kind: "close" };

/** What the head of an answer says, as far as a JSON-RPC client needs it. */
export interface AnswerHead {
  readonly status: number;
  readonly framing: Framing;
  /** Whether the connection may carry another request afterwards. */
  readonly keepAlive: boolean;
  /** Time without use after which the server closes, ms, where it says so. */
  readonly keepAliveMs: number | undefined;
  readonly retryAfter: string | null;
  /** `Content-Encoding` in lower case; empty for none. */
  readonly encoding: string;
}

const CR_LF = "\r\n";
const noBody: Framing = { kind: "length", length: 0 };
const chunked: Framing = { kind: "chunked" };
const untilClose: Framing = { kind: "close" };

/** The line behind which a body begins, with the end of the line before it. */
export const HEAD_END = "\r\n\r\n";
const LENGTH_FIELD = /\r\ncontent-length:[ \t]*/gi;

/** Reads the heads of one server's answers, of which one is most often the same as the last. */
export class HeadReader {
  /** Of the whole answer that was found last: its head, and where its body begins. */
  head: AnswerHead | undefined;
  bodyAt = 0;
  #shape: HeadShape | undefined;
  /** Heads in a row that were not like the one before. */
  #others = 0;

  /** As `parseHead`; remembers the head. */
  read(text: string): AnswerHead | undefined {
    const head = parseHead(text);
    // A server that says something new each time is listened to less and less.
    const isWorth = (this.#others & (this.#others - 1)) === 0;
    this.#others++;
    if (head && isWorth && isPlain(head)) {
      this.head = head;
      this.#shape = shapeOf(text);
    }
    return head;
  }

  /** Whether bytes are an answer from start to end, with a head like the last one read. */
  isWhole(bytes: Buffer): boolean {
    const shape = this.#shape;
    if (!shape?.fits(bytes) || shape.end + shape.length !== bytes.length) return false;
    this.bodyAt = shape.end;
    this.#others = 0;
    return true;
  }
}

/** Whether a body behind such a head needs only be cut off. */
function isPlain({ status, framing, keepAlive, encoding }: AnswerHead): boolean {
  const hasBody = status === 200 || status >= 400;
  return hasBody && keepAlive && framing.kind === "length" && encoding === "";
}

/** @returns undefined when the length stands there more than once, or nowhere */
function shapeOf(text: string): HeadShape | undefined {
  const [field, ...more] = text.matchAll(LENGTH_FIELD);
  if (!field || more.length > 0) return undefined;
  const start = field.index + field[0].length;
  const digits = /^\d*/.exec(text.slice(start))?.[0] ?? "";
  return new HeadShape(text + HEAD_END, start, start + digits.length);
}

/**
 * Reads the head of an answer. Strict where two readers could disagree on where a body ends.
 * @param text - status line and fields, one character per byte, without the empty line behind them
 * @returns undefined when it is not one of HTTP/1.1 or 1.0
 */
export function parseHead(text: string): AnswerHead | undefined {
  const status = parseStatus(text);
  if (status === undefined) return undefined;
  const fields = new Fields();
  const lineEnd = text.indexOf(CR_LF);
  if (lineEnd !== -1 && !fields.read(text, lineEnd + 2)) return undefined;
  const framing = parseFraming(status, fields);
  if (!framing) return undefined;
  const { contentLength, transferEncoding, connection, keepAlive } = fields;
  // Both at once are a sign of a confused server, whose next answer might begin anywhere.
  const isClear = contentLength === undefined || transferEncoding === undefined;
  const isNewer = text.charCodeAt(7) === 0x31;
  return {
    status,
    framing,
    keepAlive: framing.kind !== "close" && isClear && isKept(isNewer, connection),
    keepAliveMs: keepAlive === undefined ? undefined : parseKeepAliveMs(keepAlive),
    retryAfter: fields.retryAfter ?? null,
    encoding: fields.contentEncoding?.toLowerCase() ?? "",
  };
}

/** `HTTP/1.0` or `HTTP/1.1`, a space, three digits, and the end of the line or a reason. */
function parseStatus(text: string): number | undefined {
  if (!text.startsWith("HTTP/1.1 ") && !text.startsWith("HTTP/1.0 ")) return undefined;
  const [first, second, third] = [digitAt(text, 9), digitAt(text, 10), digitAt(text, 11)];
  const behind = text.charCodeAt(12);
  const isEnded = text.length === 12 || behind === 0x20 || behind === 0x0d;
  if (!isEnded || first < 1 || first > 5 || second < 0 || third < 0) return undefined;
  return first * 100 + second * 10 + third;
}

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** The fields that matter, each as it was sent; those sent several times joined by commas. */
class Fields {
  contentLength: string | undefined;
  transferEncoding: string | undefined;
  contentEncoding: string | undefined;
  connection: string | undefined;
  keepAlive: string | undefined;
  retryAfter: string | undefined;

  /** @returns false when the lines from `start` on are no fields */
  read(text: string, start: number): boolean {
    for (let at = start; at < text.length;) {
      const next = text.indexOf(CR_LF, at);
      const end = next === -1 ? text.length : next;
      const colon = text.indexOf(":", at);
      if (colon <= at || colon >= end) return false;
      // Space before the name continues the line above, and before the colon hides the name.
      if (isSpace(text, at) || isSpace(text, colon - 1)) return false;
      if (!this.#take(text, at, colon, end)) return false;
      at = end + 2;
    }
    return true;
  }

  /** Names are told apart by their length before their letters are compared. */
  #take(text: string, start: number, colon: number, end: number): boolean {
    switch (colon - start) {
      case 10:
        if (isName(text, start, "connection")) {
          this.connection = join(this.connection, valueAt(text, colon, end));
        } else if (isName(text, start, "keep-alive")) this.keepAlive = valueAt(text, colon, end);
        return true;
      case 11:
        if (isName(text, start, "retry-after")) this.retryAfter = valueAt(text, colon, end);
        return true;
      case 14: {
        if (!isName(text, start, "content-length")) return true;
        const before = this.contentLength;
        this.contentLength = valueAt(text, colon, end);
        return before === undefined || before === this.contentLength;
      }
      case 16:
        if (isName(text, start, "content-encoding")) {
          this.contentEncoding = join(this.contentEncoding, valueAt(text, colon, end));
        }
        return true;
      case 17:
        if (isName(text, start, "transfer-encoding")) {
          this.transferEncoding = join(this.transferEncoding, valueAt(text, colon, end));
        }
        return true;
      default:
        return true;
    }
  }
}

function join(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

function valueAt(text: string, colon: number, end: number): string {
  return text.slice(colon + 1, end).trim();
}

/** @param name - letters in lower case, and hyphens */
function isName(text: string, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((text.charCodeAt(start + index) | 0x20) !== name.charCodeAt(index)) return false;
  }
  return true;
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x09;
}

function parseFraming(
  status: number,
  { contentLength, transferEncoding }: Fields,
): Framing | undefined {
  if (status === 204 || status === 304 || status < 200) return noBody;
  if (transferEncoding !== undefined) {
    return transferEncoding.toLowerCase() === "chunked" ? chunked : undefined;
  }
  if (contentLength === undefined) return untilClose;
  return /^\d{1,15}$/.test(contentLength)
    ? { kind: "length", length: Number(contentLength) }
    : undefined;
}

function isKept(isNewer: boolean, connection: string | undefined): boolean {
  if (connection === undefined) return isNewer;
  const options = connection.toLowerCase().split(/\s*,\s*/);
  return !options.includes("close") && (isNewer || options.includes("keep-alive"));
}

function parseKeepAliveMs(text: string): number | undefined {
  const seconds = /\btimeout=(\d{1,6})\b/i.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
