import { afterEach, describe, expect, test } from "bun:test";
import { ConnectionError } from "../../src/upstream/connection.ts";
import { connectHttp } from "../../src/upstream/http/connect.ts";
import { AnswerMemory } from "../../src/upstream/memory.ts";
import { createUpstreamPool, UpstreamUnavailableError } from "../../src/upstream/index.ts";
import { registryOf, startNode } from "./node.ts";
import { send } from "./send.ts";

const MIB = 1_048_576;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const never = new AbortController().signal;

describe("memory of answers", () => {
  test("is given while there is room, and then in the order of asking", async () => {
    const memory = new AnswerMemory(100);
    const first = await memory.take(70, never);
    const order: string[] = [];
    const second = memory.take(60, never).then((lease) => (order.push("second"), lease));
    const third = memory.take(10, never).then((lease) => (order.push("third"), lease));
    await Bun.sleep(1);
    expect(order).toEqual([]);
    first?.release();
    await Promise.all([second, third]);
    expect(order).toEqual(["second", "third"]);
    expect(memory.usedBytes).toBe(70);
  });

  test("that will never be there is refused at once, and one who leaves frees the way", async () => {
    const memory = new AnswerMemory(100);
    expect(await memory.take(101, never)).toBeUndefined();
    const held = await memory.take(100, never);
    const leaving = new AbortController();
    const left = memory.take(90, leaving.signal);
    const after = memory.take(20, never);
    leaving.abort();
    expect(await left).toBeUndefined();
    held?.release();
    expect((await after)?.bytes).toBe(20);
  });

  test("is given back once, however often", async () => {
    const memory = new AnswerMemory(100);
    const lease = await memory.take(60, never);
    lease?.release();
    lease?.release();
    expect(memory.usedBytes).toBe(0);
  });
});

/** A node that answers with a result of so many bytes, by the first parameter's number of MiB. */
function startLargeNode(headers: (body: Uint8Array<ArrayBuffer>) => Response) {
  const large = startNode();
  large.behave(({ id, params }) => {
    const text = `{"jsonrpc":"2.0","id":${id},"result":"${"a".repeat(Number(params[0]) * MIB)}"}`;
    return headers(new TextEncoder().encode(text));
  });
  closers.push(() => large.kill());
  return large;
}

const streamed = (body: Uint8Array<ArrayBuffer>) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < body.length; at += MIB)
          controller.enqueue(body.subarray(at, at + MIB));
        controller.close();
      },
    }),
  );

describe("large answers", () => {
  test("of known length wait for each other, and all arrive", async () => {
    const large = startLargeNode((body) => new Response(body));
    const pool = createUpstreamPool({
      registry: registryOf([large.url]),
      maxBufferedBytes: 30 * MIB,
    });
    closers.push(() => pool.close());
    let most = 0;
    const look = setInterval(() => (most = Math.max(most, pool.memory.usedBytes)), 1);
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, caller) =>
        pool.call(1, { method: "debug_traceCall", params: `[12, ${caller}]` }),
      ),
    );
    clearInterval(look);
    for (const { bytes } of replies) expect(bytes.length).toBeGreaterThan(12 * MIB);
    expect(most).toBeWithin(12 * MIB, 30 * MIB + 1);
    await Bun.sleep(5);
    expect(pool.memory.usedBytes).toBe(0);
  }, 60_000);

  test("of unknown length beyond what is left are refused, and nothing is kept of them", async () => {
    const large = startLargeNode(streamed);
    const pool = createUpstreamPool({
      registry: registryOf([large.url]),
      maxBufferedBytes: 30 * MIB,
    });
    closers.push(() => pool.close());
    const ask = (mib: number) => pool.call(1, { method: "debug_traceCall", params: `[${mib}]` });
    expect((await ask(12)).bytes.length).toBeGreaterThan(12 * MIB);
    await expect(ask(20)).rejects.toBeInstanceOf(UpstreamUnavailableError);
    await Bun.sleep(5);
    expect(pool.memory.usedBytes).toBe(0);
    expect(pool.status()[0]).toMatchObject({ state: "active", failures: 0 });
  }, 60_000);

  test("of 50 MiB come whole, byte for byte", async () => {
    const large = startLargeNode((body) => new Response(body));
    const pool = createUpstreamPool({ registry: registryOf([large.url]) });
    closers.push(() => pool.close());
    const { bytes, id } = await pool.call(1, { method: "debug_traceCall", params: "[50]" });
    expect(bytes.length - (id ? id.end - id.start : 0)).toBe(
      '{"jsonrpc":"2.0","id":,"result":""}'.length + 50 * MIB,
    );
    expect(bytes.at(-1)).toBe(0x7d);
  }, 60_000);
});

/** Sends one request to a server that writes these bytes and closes. */
async function readFrom(raw: Uint8Array | string, memory = new AnswerMemory(64 * MIB)) {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.write(raw);
        socket.end();
      },
    },
  });
  const connection = connectHttp(new URL(`http://127.0.0.1:${server.port}/`));
  closers.push(
    () => connection.close(),
    () => server.stop(true),
  );
  const signal = AbortSignal.timeout(3_000);
  return send(connection, "{}", { signal, maxBytes: 8 * MIB, memory }).then(
    ({ bytes }) => new TextDecoder().decode(bytes),
    (error: unknown) => (error instanceof ConnectionError ? error.fault : String(error)),
  );
}

const withBody = (headers: string, body: Uint8Array | string) =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`), Buffer.from(body)]);
const json = `{"jsonrpc":"2.0","id":1,"result":"${"0x1".repeat(400)}"}`;
const chunked = (body: Uint8Array | string) =>
  Buffer.concat([
    Buffer.from(`${Buffer.from(body).length.toString(16)}\r\n`),
    Buffer.from(body),
    Buffer.from("\r\n0\r\n\r\n"),
  ]);

describe("bodies of every form", () => {
  const gzip = Bun.gzipSync(json);
  const whole: [string, Uint8Array][] = [
    ["of known length", withBody(`content-length: ${json.length}`, json)],
    ["in chunks", withBody("transfer-encoding: chunked", chunked(json))],
    ["compressed", withBody(`content-encoding: gzip\r\ncontent-length: ${gzip.length}`, gzip)],
    [
      "compressed, in chunks",
      withBody("content-encoding: gzip\r\ntransfer-encoding: chunked", chunked(gzip)),
    ],
    ["that end with the connection", withBody("connection: close", json)],
  ];
  test.each(whole)("%s are read", async (_, raw) => {
    expect(await readFrom(raw)).toBe(json);
  });

  const cut: [string, Uint8Array][] = [
    ["shorter than their length", withBody(`content-length: ${json.length}`, json.slice(0, 500))],
    [
      "in chunks without the last",
      withBody("transfer-encoding: chunked", chunked(json).subarray(0, 700)),
    ],
    [
      "in chunks, cut between two",
      withBody("transfer-encoding: chunked", `${json.length.toString(16)}\r\n${json}\r\n`),
    ],
    [
      "compressed and cut",
      withBody(
        `content-encoding: gzip\r\ncontent-length: ${gzip.length - 12}`,
        gzip.subarray(0, gzip.length - 12),
      ),
    ],
    [
      "compressed and cut within the connection",
      withBody(`content-encoding: gzip\r\ncontent-length: ${gzip.length}`, gzip.subarray(0, 20)),
    ],
  ];
  test.each(cut)("%s are never taken for whole", async (_, raw) => {
    expect(["truncated", "unreachable"]).toContain(await readFrom(raw));
  });

  test("that unfold to far more than they weigh are given up early", async () => {
    const bomb = Bun.gzipSync(new Uint8Array(200 * MIB));
    const memory = new AnswerMemory(64 * MIB);
    const before = process.memoryUsage.rss();
    const raw = withBody(`content-encoding: gzip\r\ncontent-length: ${bomb.length}`, bomb);
    expect(await readFrom(raw, memory)).toBe("too-large");
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * MIB);
    await Bun.sleep(1);
    expect(memory.usedBytes).toBe(0);
  });
});
