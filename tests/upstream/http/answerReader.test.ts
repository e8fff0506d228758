import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AnswerReader } from "../../../src/upstream/http/answerReader.ts";
import { HeadReader } from "../../../src/upstream/http/head.ts";
import { AnswerMemory, MIN_COUNTED_BYTES } from "../../../src/upstream/memory.ts";

const MAX_BYTES = 2 * MIN_COUNTED_BYTES;
const JSON_BODY = '{"jsonrpc":"2.0","id":1,"result":"0x5"}';

/** What a reader makes of bytes that come in pieces, after which the connection ends. */
function readPieces(pieces: readonly Buffer[], memory = new AnswerMemory(1_000_000)): string {
  const reader = new AnswerReader({ maxBytes: MAX_BYTES, memory }, new HeadReader());
  let progress: string = "more";
  for (const piece of pieces) {
    progress = reader.read(piece);
    if (progress === "room") progress = reader.grant(memory.hold(reader.room));
    if (progress !== "more") break;
  }
  if (progress === "more" && reader.end()) progress = "done";
  reader.lease?.release();
  if (progress === "more") return reader.hasBegun ? "truncated" : "nothing";
  if (progress !== "done") return progress;
  const { status = 0, keepAlive = false } = reader.head ?? {};
  return `${status}${keepAlive ? " kept" : ""} ${Buffer.from(reader.body).toString("latin1")}`;
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

const length = Buffer.byteLength(JSON_BODY);
const okLine = "HTTP/1.1 200 OK\r\n";

/** Answers, and what must come of them however they are cut. */
const answers: readonly [name: string, raw: string, outcome: string][] = [
  [
    "of known length",
    `${okLine}Content-Length: ${length}\r\n\r\n${JSON_BODY}`,
    `200 kept ${JSON_BODY}`,
  ],
  ["of no length at all", `${okLine}content-length:0\r\n\r\n`, "200 kept "],
  [
    "in chunks, with extensions and trailers",
    `${okLine}Transfer-Encoding: chunked\r\n\r\n5;name="a;b"\r\n{"jso\r\n1 ;x\r\nn\r\n${(length - 6).toString(16).toUpperCase()}\r\n${JSON_BODY.slice(6)}\r\n000\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n`,
    `200 kept ${JSON_BODY}`,
  ],
  [
    "that ends with the connection",
    `${okLine}content-type: text/plain\r\n\r\n${JSON_BODY}`,
    `200 ${JSON_BODY}`,
  ],
  [
    "of HTTP/1.0",
    `HTTP/1.0 200 OK\r\ncontent-length: ${length}\r\n\r\n${JSON_BODY}`,
    `200 ${JSON_BODY}`,
  ],
  [
    "of HTTP/1.0, kept",
    `HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 2\r\n\r\nok`,
    "200 kept ok",
  ],
  [
    "whose connection closes",
    `${okLine}connection: TE, close\r\ncontent-length: 2\r\n\r\nok`,
    "200 ok",
  ],
  [
    "after interim ones",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${okLine}content-length: 2\r\n\r\nok`,
    "200 kept ok",
  ],
  [
    "without a body by its status",
    "HTTP/1.1 204 No Content\r\ncontent-length: 7\r\n\r\n",
    "204 kept ",
  ],
  ["without a reason", "HTTP/1.1 500\r\ncontent-length: 2\r\n\r\nno", "500 kept no"],
  [
    "with both framings",
    `${okLine}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    "200 ok",
  ],
  [
    "with the same length twice",
    `${okLine}content-length: 2\r\ncontent-length: 2\r\n\r\nok`,
    "200 kept ok",
  ],
  ["with two lengths", `${okLine}content-length: 2\r\ncontent-length: 3\r\n\r\nok!`, "malformed"],
  ["with a list of lengths", `${okLine}content-length: 2, 2\r\n\r\nok`, "malformed"],
  ["with a negative length", `${okLine}content-length: -1\r\n\r\nok`, "malformed"],
  ["with a hexadecimal length", `${okLine}content-length: 0x2\r\n\r\nok`, "malformed"],
  ["longer than accepted", `${okLine}content-length: ${MAX_BYTES + 1}\r\n\r\n`, "too-large"],
  [
    "with an unknown transfer coding",
    `${okLine}transfer-encoding: gzip, chunked\r\n\r\n`,
    "malformed",
  ],
  ["with a space before a colon", `${okLine}content-length : 2\r\n\r\nok`, "malformed"],
  ["with a folded field", `${okLine}x: a\r\n b\r\ncontent-length: 2\r\n\r\nok`, "malformed"],
  ["with a line that is no field", `${okLine}hello\r\ncontent-length: 2\r\n\r\nok`, "malformed"],
  ["that is not HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "malformed"],
  ["of another version", "HTTP/2.0 200 OK\r\n\r\n", "malformed"],
  ["with a status of four digits", "HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n", "malformed"],
  ["that changes the protocol", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "malformed"],
  ["that redirects", "HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n", "redirect"],
  ["with a chunk of no size", `${okLine}transfer-encoding: chunked\r\n\r\n\r\nok\r\n`, "malformed"],
  [
    "with a chunk size that is no number",
    `${okLine}transfer-encoding: chunked\r\n\r\nzz\r\n`,
    "malformed",
  ],
  [
    "with a chunk size beyond counting",
    `${okLine}transfer-encoding: chunked\r\n\r\nfffffffff\r\n`,
    "malformed",
  ],
  [
    "with a chunk longer than its size",
    `${okLine}transfer-encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n`,
    "malformed",
  ],
  [
    "with chunks ended by bare line feeds",
    `${okLine}transfer-encoding: chunked\r\n\r\n2\nok\n0\n\n`,
    "malformed",
  ],
  [
    "with chunks that end early",
    `${okLine}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n`,
    "truncated",
  ],
  [
    "with trailers that end early",
    `${okLine}transfer-encoding: chunked\r\n\r\n0\r\nx: 1\r\n`,
    "truncated",
  ],
  ["shorter than its length", `${okLine}content-length: 9\r\n\r\nok`, "truncated"],
  ["cut in its head", "HTTP/1.1 200 OK\r\ncontent-le", "truncated"],
  ["with a head without end", `${okLine}x: ${"y".repeat(20_000)}`, "malformed"],
  ["with endless interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(20), "malformed"],
  [
    "with an extension without end",
    `${okLine}transfer-encoding: chunked\r\n\r\n2;${"x".repeat(5_000)}`,
    "malformed",
  ],
  [
    "with trailers without end",
    `${okLine}transfer-encoding: chunked\r\n\r\n0\r\n${"x: y\r\n".repeat(4_000)}`,
    "malformed",
  ],
];

describe("an answer", () => {
  test.each(answers)("%s is read as it stands", (_, raw, outcome) => {
    expect(readPieces([Buffer.from(raw, "latin1")])).toBe(outcome);
  });

  test.each(answers.filter(([, raw]) => raw.length < 1_000))(
    "%s means the same wherever it is cut",
    (_, raw, outcome) => {
      const bytes = Buffer.from(raw, "latin1");
      for (let at = 1; at < bytes.length; at++) {
        expect(readPieces(cutAt(bytes, [at]))).toBe(outcome);
      }
      expect(readPieces([...bytes].map((byte) => Buffer.from([byte])))).toBe(outcome);
    },
  );

  test("of any length comes whole in any pieces, and its memory is given back", () => {
    const body = fc
      .integer({ min: 0, max: 3 * MIN_COUNTED_BYTES })
      .map((size) => Buffer.alloc(size, "abc"));
    const cuts = fc.array(fc.nat(), { maxLength: 20 });
    fc.assert(
      fc.property(
        body,
        cuts,
        fc.constantFrom("length", "chunked", "close"),
        (bytes, places, framing) => {
          const memory = new AnswerMemory(1_000_000);
          const raw = frame(bytes, framing);
          const edges = places.map((place) => place % (raw.length + 1));
          const outcome = readPieces(cutAt(raw, edges), memory);
          const isTooLarge = bytes.length > MAX_BYTES;
          const mark = framing === "close" ? "200 " : "200 kept ";
          expect(outcome).toBe(isTooLarge ? "too-large" : mark + bytes.toString("latin1"));
          expect(memory.usedBytes).toBe(0);
        },
      ),
      { seed: 7, numRuns: 150 },
    );
  });

  test("of garbage is never taken for an answer, nor does it throw", () => {
    const soup = fc.array(
      fc.constantFrom(
        "HTTP/1.1 ",
        "200",
        " ",
        "\r\n",
        "\n",
        ":",
        "content-length",
        "2",
        "chunked",
        "transfer-encoding",
        "\0",
        "ÿ",
        "0",
      ),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(soup, (parts) => {
        const raw = Buffer.from(parts.join(""), "latin1");
        const whole = readPieces([raw]);
        expect(readPieces([...raw].map((byte) => Buffer.from([byte])))).toBe(whole);
      }),
      { seed: 11, numRuns: 500 },
    );
  });
});

function frame(body: Buffer, framing: string): Buffer {
  if (framing === "close") return Buffer.concat([Buffer.from(`${okLine}\r\n`), body]);
  if (framing === "length") {
    return Buffer.concat([Buffer.from(`${okLine}content-length: ${body.length}\r\n\r\n`), body]);
  }
  const half = body.length >> 1;
  return Buffer.concat([
    Buffer.from(`${okLine}transfer-encoding: chunked\r\n\r\n`),
    chunk(body.subarray(0, half)),
    chunk(body.subarray(half)),
    Buffer.from("0\r\n\r\n"),
  ]);
}

function chunk(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
}
