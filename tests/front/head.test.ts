import { describe, expect, test } from "bun:test";
import { HeadMemo } from "../../src/front/headMemo.ts";

const PREFIX = "/api/public/rpc/";
const LINE = "POST /api/public/rpc/5042 HTTP/1.1";
const HOST = "Host: api.example";
const LENGTH = "Content-Length: 7";
const headOf = (...lines: string[]) => `${lines.join("\r\n")}\r\n\r\n`;
const bytesOf = (text: string) => Buffer.from(text, "latin1");
const read = (text: string) => new HeadMemo(PREFIX).read(bytesOf(text));

describe("answers itself", () => {
  test.each([
    ["what clients send", headOf(LINE, HOST, LENGTH, "Content-Type: application/json")],
    ["names in any case", headOf(LINE, "HOST: a", "cOnTeNt-LeNgTh: 7")],
    ["spaces around values", headOf(LINE, "Host:  a ", "Content-Length:\t 7 \t")],
    ["a network's name", headOf("POST /api/public/rpc/arc-testnet HTTP/1.1", HOST, LENGTH)],
    ["an IPv6 host", headOf(LINE, "Host: [::1]:8080", LENGTH)],
    ["an empty body", headOf(LINE, HOST, "Content-Length: 0")],
    ["GET", headOf("GET /api/public/prices HTTP/1.1", HOST)],
    ["GET with a query", headOf("GET /api/public/usage?from=1 HTTP/1.1", HOST)],
    ["Connection: close", headOf(LINE, HOST, LENGTH, "Connection: close")],
  ])("%s", (_, text) => {
    expect(read(text)).toBe("head");
  });
});

describe("leaves to the other server", () => {
  test.each([
    ["another method", headOf("PUT /api/public/rpc/5042 HTTP/1.1", HOST, LENGTH)],
    ["GET with a body", headOf("GET /api/public/prices HTTP/1.1", HOST, LENGTH)],
    ["GET of an escaped path", headOf("GET /api/public/%70rices HTTP/1.1", HOST)],
    ["GET of what is not the API's", headOf("GET /console HTTP/1.1", HOST)],
    ["a WebSocket", headOf("GET /api/public/rpc/1 HTTP/1.1", HOST, "Upgrade: websocket")],
    ["a method in lower case", headOf("post /api/public/rpc/5042 HTTP/1.1", HOST, LENGTH)],
    ["HTTP/1.0", headOf("POST /api/public/rpc/5042 HTTP/1.0", HOST, LENGTH)],
    ["another path", headOf("POST /console/api/session HTTP/1.1", HOST, LENGTH)],
    ["an escape", headOf("POST /api/public/rpc/%35042 HTTP/1.1", HOST, LENGTH)],
    ["dots", headOf("POST /api/public/rpc/.. HTTP/1.1", HOST, LENGTH)],
    ["an absolute target", headOf(`POST http://a${PREFIX}5042 HTTP/1.1`, HOST, LENGTH)],
    ["two spaces", headOf("POST  /api/public/rpc/5042 HTTP/1.1", HOST, LENGTH)],
    ["no host", headOf(LINE, LENGTH)],
    ["two hosts", headOf(LINE, HOST, HOST, LENGTH)],
    ["a host that is none", headOf(LINE, "Host: a b", LENGTH)],
    ["no length", headOf(LINE, HOST)],
    ["two lengths", headOf(LINE, HOST, LENGTH, LENGTH)],
    ["two lengths in one", headOf(LINE, HOST, "Content-Length: 7, 7")],
    ["a length with a sign", headOf(LINE, HOST, "Content-Length: +5")],
    ["a length with a zero before", headOf(LINE, HOST, "Content-Length: 07")],
    ["a length in hex", headOf(LINE, HOST, "Content-Length: 0x7")],
    ["a length above all", headOf(LINE, HOST, "Content-Length: 9999999999")],
    ["a length of many digits", headOf(LINE, HOST, `Content-Length: ${"1".repeat(30)}`)],
    ["an empty length", headOf(LINE, HOST, "Content-Length:")],
    ["a transfer encoding", headOf(LINE, HOST, LENGTH, "Transfer-Encoding: chunked")],
    ["an encoded body", headOf(LINE, HOST, LENGTH, "Content-Encoding: gzip")],
    ["an expectation", headOf(LINE, HOST, LENGTH, "Expect: 100-continue")],
    ["an upgrade", headOf(LINE, HOST, LENGTH, "Connection: upgrade", "Upgrade: h2c")],
    ["two keys", headOf(LINE, HOST, LENGTH, "x-api-key: a", "X-Api-Key: b")],
    ["a space before the colon", headOf(LINE, HOST, "Content-Length : 7")],
    ["a continued line", headOf(LINE, HOST, LENGTH, "x-a: b", " c")],
    ["a line without a colon", headOf(LINE, HOST, LENGTH, "x-a")],
    ["a NUL", headOf(LINE, HOST, LENGTH, "x-a: \0")],
    ["a lone line feed", headOf(LINE, HOST, `${LENGTH}\nx-a: b`)],
    ["a lone carriage return", headOf(LINE, HOST, `${LENGTH}\rx-a: b`)],
    ["bytes beyond ASCII", headOf(LINE, HOST, LENGTH, "x-a: \xe9")],
    ["a line before the first", `\r\n${headOf(LINE, HOST, LENGTH)}`],
    ["a head above 16 KiB", `${LINE}\r\nx-a: ${"a".repeat(16_384)}`],
  ])("%s", (_, text) => {
    expect(read(text)).toBe("other");
  });
});

test.each([
  ["another path", "POST /api/public/bridge HTTP/1.1"],
  ["a slash at the end", "POST /api/public/rpc/5042/ HTTP/1.1"],
  ["a query", "POST /api/public/rpc/5042?a=1 HTTP/1.1"],
])("leaves %s to the framework", (_, line) => {
  const memo = new HeadMemo(PREFIX);
  expect(memo.read(bytesOf(headOf(line, HOST, LENGTH)))).toBe("head");
  expect(memo).toMatchObject({ length: 7, head: { segment: undefined } });
});

test("waits for the rest of what may become its own", () => {
  const text = headOf(LINE, HOST, LENGTH);
  for (let length = 0; length < text.length; length++) {
    expect(read(text.slice(0, length))).toBe("more");
  }
});

const again = (lengthText: string) => headOf(LINE, HOST, `Content-Length: ${lengthText}`);
const memoOf = (text: string) => {
  const memo = new HeadMemo(PREFIX);
  memo.read(bytesOf(text));
  return memo;
};

describe("a head that comes again", () => {
  test("is the same head, whatever the length of its body", () => {
    const memo = memoOf(again("7"));
    const { head } = memo;
    for (const length of [0, 7, 12, 1_048_576, 1_073_741_824]) {
      const text = again(String(length));
      expect(memo.read(bytesOf(`${text}{}`))).toBe("head");
      expect(memo).toMatchObject({ length, bodyAt: text.length });
      expect(memo.head).toBe(head);
    }
  });

  test.each(["", "+7", "07", "7a", " 7,7", "9999999999", "11111111111111111111", "7\r\nx: y"])(
    "with the length '%s' is read as when it comes first",
    (lengthText) => {
      expect(memoOf(again("7")).read(bytesOf(again(lengthText)))).toBe(read(again(lengthText)));
    },
  );

  test("is told from one that goes on differently", () => {
    const memo = memoOf(headOf(LINE, HOST, LENGTH, "x-api-key: a"));
    expect(memo.read(bytesOf(headOf(LINE, HOST, LENGTH, "x-api-key: b")))).toBe("head");
    expect(memo.head?.get("x-api-key")).toBe("b");
    expect(memo.read(bytesOf(headOf(LINE, HOST, LENGTH, "x-api-key: a")))).toBe("head");
    expect(memo.head?.get("x-api-key")).toBe("a");
  });

  test("is parsed anew once others have taken its place", () => {
    const memo = memoOf(headOf(LINE, HOST, LENGTH, "x-n: 0"));
    const first = memo.head;
    for (let n = 1; n < 5; n++) memo.read(bytesOf(headOf(LINE, HOST, LENGTH, `x-n: ${n}`)));
    memo.read(bytesOf(headOf(LINE, HOST, LENGTH, "x-n: 0")));
    expect(memo.head).not.toBe(first);
    expect(memo.head?.get("x-n")).toBe("0");
  });
});
