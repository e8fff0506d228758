import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";

const MIB = 1_048_576;
const SIZE_MIB = 50;

let node: TestNode;
let proxy: Proxy;

beforeAll(async () => {
  node = startNode();
  node.behave(({ id }) => {
    const text = `{"jsonrpc":"2.0","id":${id},"result":"${"ab".repeat((SIZE_MIB * MIB) / 2)}"}`;
    return new Response(text, { headers: { "content-type": "application/json" } });
  });
  proxy = await startProxy(registryOf([node.url]));
});
afterAll(async () => {
  await proxy.stop();
  await node.kill();
});

/** Sends a request over a socket of its own and reads nothing of the answer. */
function askWithoutReading(id: number): Promise<Socket> {
  const url = new URL(proxy.url());
  const body = JSON.stringify({ jsonrpc: "2.0", method: "debug_traceCall", params: [id], id });
  const head = [
    `POST ${url.pathname} HTTP/1.1`,
    `host: ${url.host}`,
    `x-api-key: ${proxy.secret}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
  ];
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const socket = connect(Number(url.port), url.hostname, () => {
    socket.pause();
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
    resolve(socket);
  });
  socket.on("error", () => {});
  return promise;
}

async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 8_000;
  while (!isSo() && performance.now() < endMs) await Bun.sleep(5);
  expect(isSo()).toBe(true);
}

test("a large answer comes byte for byte, with the caller's id", async () => {
  const { status, text } = await proxy.post(
    '{"jsonrpc":"2.0","method":"debug_traceCall","params":[],"id":12345678901234567890}',
  );
  expect(status).toBe(200);
  expect(text.length).toBe(
    '{"jsonrpc":"2.0","id":12345678901234567890,"result":""}'.length + SIZE_MIB * MIB,
  );
  expect(text.startsWith('{"jsonrpc":"2.0","id":12345678901234567890,"result":"abab')).toBe(true);
  await until(() => proxy.pool.memory.usedBytes === 0);
}, 60_000);

test("four callers who read slowly hold four answers, each once, until they took them or left", async () => {
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const sockets = await Promise.all([1, 2, 3, 4].map(askWithoutReading));
  await until(() => proxy.pool.memory.usedBytes >= 4 * SIZE_MIB * MIB);
  await Bun.sleep(300);
  Bun.gc(true);
  expect(proxy.pool.memory.usedBytes).toBeLessThan(4 * (SIZE_MIB + 1) * MIB);
  // The nodes' own copies and the collector's lag are in this process too.
  expect(process.memoryUsage.rss() - before).toBeLessThan(600 * MIB);

  const [reading, ...leaving] = sockets;
  for (const socket of leaving) socket.destroy();
  await until(() => proxy.pool.memory.usedBytes < 2 * SIZE_MIB * MIB);
  let size = 0;
  reading?.on("data", (data) => (size += data.length));
  reading?.resume();
  await until(() => size > SIZE_MIB * MIB);
  await until(() => proxy.pool.memory.usedBytes === 0);
  reading?.destroy();
}, 60_000);
