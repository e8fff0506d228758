import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Proxy, startProxy } from "../rpc/app.ts";
import { registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { openClient, rpcCall, rpcRequest } from "./client.ts";

let node: TestNode;
let proxy: Proxy;

beforeAll(async () => {
  node = startNode();
  proxy = await startProxy(registryOf([node.url]));
});
afterAll(async () => {
  await proxy.stop();
  await node.kill();
});

const HEALTH = "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const call = rpcCall(1);
const size = Buffer.byteLength(call);
const changing = new Set(["x-request-id", "x-ratelimit-remaining", "date"]);

/** A server that says nothing in this time waits for more, ms. */
const SILENCE_MS = 100;

/**
 * Everything a server says to these bytes and then to an ordinary request behind them, without what
 * differs from answer to answer.
 */
async function conversation(port: number, bytes: string) {
  const client = await openClient(port);
  client.send(bytes);
  const first = client.next().catch(() => undefined);
  await Promise.race([first, Bun.sleep(SILENCE_MS)]);
  client.send(HEALTH);
  const others = await client.closed;
  return [await first, ...others].map(
    (answer) =>
      answer && {
        status: answer.status,
        headers: [...answer.headers].filter(([name]) => !changing.has(name)).sort(),
        body: answer.body,
      },
  );
}

/** Lines of a head in place of those of an ordinary one, and the body. */
const odd = (lines: readonly string[], body = call, line = "POST /api/public/rpc/1 HTTP/1.1") =>
  [line, "Host: api.example", `x-api-key: ${proxy.secret}`, ...lines, "", body].join("\r\n");

describe("whatever two parsers could read differently is answered as by the other server alone", () => {
  const hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  const length = `Content-Length: ${size}`;
  test.each<[string, () => string]>([
    ["an ordinary request", () => rpcRequest(proxy.secret, call)],
    [
      "chunked and a length",
      () => odd(["Transfer-Encoding: chunked", length], `0\r\n\r\n${hidden}`),
    ],
    [
      "a length and chunked",
      () => odd([length, "Transfer-Encoding: chunked"], `0\r\n\r\n${hidden}`),
    ],
    [
      "chunked alone",
      () => odd(["Transfer-Encoding: chunked"], `${size.toString(16)}\r\n${call}\r\n0\r\n\r\n`),
    ],
    ["chunked, oddly written", () => odd(["Transfer-Encoding : chunked", length])],
    ["an unknown encoding", () => odd(["Transfer-Encoding: xchunked", length])],
    ["two equal lengths", () => odd([length, length])],
    ["two lengths", () => odd([length, "Content-Length: 1"])],
    ["lengths in a list", () => odd([`Content-Length: ${size}, ${size}`])],
    ["a length with a sign", () => odd(["Content-Length: +5"], "hello")],
    ["a negative length", () => odd(["Content-Length: -1"])],
    ["a length in hex", () => odd(["Content-Length: 0x5"], "hello")],
    ["a length with zeros before", () => odd([`Content-Length: 00${size}`])],
    ["no length", () => odd([], "")],
    ["a space before the colon", () => odd([`Content-Length : ${size}`])],
    ["a continued line", () => odd([length, "x-a: b", " c"])],
    ["a continued length", () => odd(["Content-Length:", ` ${size}`])],
    ["a NUL in a value", () => odd([length, "x-a: a\0b"])],
    ["bare line feeds", () => odd([length]).replaceAll("\r\n", "\n")],
    ["a bare line feed within", () => odd([`${length}\nx-a: b`])],
    ["a bare carriage return", () => odd([`x-a: b\r${length}`, length])],
    ["a method in lower case", () => odd([length], call, "post /api/public/rpc/1 HTTP/1.1")],
    ["HTTP/1.0", () => odd([length], call, "POST /api/public/rpc/1 HTTP/1.0")],
    ["HTTP/2.0", () => odd([length], call, "POST /api/public/rpc/1 HTTP/2.0")],
    ["an absolute target", () => odd([length], call, "POST http://a/api/public/rpc/1 HTTP/1.1")],
    ["an escape in the path", () => odd([length], call, "POST /api/public/rpc/%31 HTTP/1.1")],
    ["an escaped slash", () => odd([length], call, "POST /api/public%2Frpc/1 HTTP/1.1")],
    ["a slash at the end", () => odd([length], call, "POST /api/public/rpc/1/ HTTP/1.1")],
    ["a doubled slash", () => odd([length], call, "POST /api/public//rpc/1 HTTP/1.1")],
    ["a query", () => odd([length], call, "POST /api/public/rpc/1?x=1 HTTP/1.1")],
    ["a step up", () => odd([length], call, "POST /api/public/rpc/../rpc/1 HTTP/1.1")],
    ["two hosts", () => odd([length, "Host: b"])],
    ["two keys", () => odd([length, `x-api-key: ${proxy.secret}`])],
    ["a long head", () => odd([length, `x-a: ${"a".repeat(20_000)}`])],
    ["lines before the first", () => `\r\n\r\n${odd([length])}`],
    ["another method", () => odd([length], call, "PUT /api/public/rpc/1 HTTP/1.1")],
    ["another protocol", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
  ])("%s", async (_, bytes) => {
    const text = bytes();
    const asked = node.calls().length;
    const front = await conversation(proxy.front.port, text);
    const reached = node.calls().length - asked;
    const alone = await conversation(proxy.innerPort, text);
    expect(front).toEqual(alone);
    expect(reached).toBe(node.calls().length - asked - reached);
  });
});
