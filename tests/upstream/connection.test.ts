import { afterEach, describe, expect, test } from "bun:test";
import { ConnectionError } from "../../src/upstream/connection.ts";
import { connectHttp } from "../../src/upstream/http/connect.ts";
import { AnswerMemory } from "../../src/upstream/memory.ts";
import { send as sendOn } from "./send.ts";

const MAX_BYTES = 1_000;
const memory = new AnswerMemory(1_000_000);
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server that writes raw bytes for each request it reads; the text after the path is its cue. */
function startRaw(answer: (request: string, count: number) => string | undefined) {
  let connections = 0;
  let count = 0;
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: () => void connections++,
      data(socket, data) {
        const text = answer(data.toString(), ++count);
        if (text === undefined) return socket.terminate();
        socket.write(text);
        if (text.endsWith("\n\n!")) socket.end();
        return undefined;
      },
    },
  });
  closers.push(() => server.stop(true));
  const connection = connectHttp(new URL(`http://127.0.0.1:${server.port}/`));
  closers.push(() => connection.close());
  return { connection, connections: () => connections, count: () => count };
}

const ok = (body: string) =>
  `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

function send(connection: ReturnType<typeof connectHttp>, signal = AbortSignal.timeout(2_000)) {
  return sendOn(connection, "{}", { signal, maxBytes: MAX_BYTES, memory });
}

async function faultOf(pending: Promise<unknown>): Promise<string> {
  const error: unknown = await pending.catch((caught: unknown) => caught);
  return error instanceof ConnectionError ? error.fault : `no fault: ${String(error)}`;
}

describe("answers", () => {
  test("connections are kept", async () => {
    const { connection, connections } = startRaw(() => ok("{}"));
    for (let n = 0; n < 5; n++) expect((await send(connection)).status).toBe(200);
    expect(connections()).toBe(1);
  });

  test("credentials of the URL are sent as a header, not in the request line", async () => {
    let seen = "";
    const server = Bun.serve({
      port: 0,
      fetch(request) {
        seen = `${request.url} ${request.headers.get("authorization")}`;
        return new Response("{}");
      },
    });
    closers.push(() => server.stop(true));
    const connection = connectHttp(new URL(`http://us%40r:p%3Ass@127.0.0.1:${server.port}/x`));
    await send(connection);
    expect(seen).toBe(`http://127.0.0.1:${server.port}/x Basic ${btoa("us@r:p:ss")}`);
  });

  test("a pinned address is connected to under the URL's name", async () => {
    let host: string | null = "";
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        host = request.headers.get("host");
        return new Response("{}");
      },
    });
    closers.push(() => server.stop(true));
    const connection = connectHttp(new URL(`http://node.invalid:${server.port}/`), "127.0.0.1");
    expect((await send(connection)).status).toBe(200);
    expect(String(host)).toBe(`node.invalid:${server.port}`);
  });
});

describe("faults", () => {
  test("nobody listens", async () => {
    expect(await faultOf(send(connectHttp(new URL("http://127.0.0.1:1/"))))).toBe("unreachable");
  });

  test.each([
    ["a body shorter than its length", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\n\n!"],
    [
      "a chunked body without its end",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\n\n!",
    ],
  ])("%s is no answer", async (_, text) => {
    const { connection } = startRaw(() => text);
    expect(["truncated", "malformed"]).toContain(await faultOf(send(connection)));
  });

  test("a redirect is not followed", async () => {
    const { connection, count } = startRaw(
      () => "HTTP/1.1 301 Moved\r\nlocation: /\r\ncontent-length: 0\r\n\r\n",
    );
    expect(await faultOf(send(connection))).toBe("redirect");
    expect(count()).toBe(1);
  });

  test("a declared length, a stream and a compressed body are all bounded", async () => {
    const large = "x".repeat(MAX_BYTES + 1);
    expect(await faultOf(send(startRaw(() => ok(large)).connection))).toBe("too-large");
    const server = Bun.serve({
      port: 0,
      fetch: (request) =>
        request.url.endsWith("gzip")
          ? new Response(Bun.gzipSync("x".repeat(1_000_000)), {
              headers: { "content-encoding": "gzip" },
            })
          : new Response(
              new ReadableStream({
                start(controller) {
                  controller.enqueue(large);
                  controller.close();
                },
              }),
            ),
    });
    closers.push(() => server.stop(true));
    for (const path of ["gzip", "stream"]) {
      const url = new URL(`http://127.0.0.1:${server.port}/${path}`);
      expect(await faultOf(send(connectHttp(url)))).toBe("too-large");
    }
  });

  test("the caller's signal ends a request at once", async () => {
    const { connection } = startRaw(() => "");
    const leaving = new AbortController();
    const pending = faultOf(send(connection, leaving.signal));
    setTimeout(() => leaving.abort(), 10);
    expect(await pending).toBe("aborted");
  });
});

describe("kept connections that died", () => {
  test("the request is sent once more on a fresh one", async () => {
    const { connection, connections } = startRaw((_, count) =>
      count === 2 ? undefined : ok("{}"),
    );
    await send(connection);
    expect((await send(connection)).status).toBe(200);
    expect(connections()).toBe(2);
  });

  test("but only once, and never on a first connection", async () => {
    const always = startRaw(() => undefined);
    expect(await faultOf(send(always.connection))).toBe("unreachable");
    expect(always.count()).toBe(1);
    const later = startRaw((_, count) => (count === 1 ? ok("{}") : undefined));
    await send(later.connection);
    expect(await faultOf(send(later.connection))).toBe("unreachable");
    expect(later.count()).toBe(3);
  });
});
