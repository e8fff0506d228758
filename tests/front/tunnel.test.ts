import { afterAll, beforeAll, expect, test } from "bun:test";
import { createFront, type Front } from "../../src/front/index.ts";
import { peerAddress } from "../../src/lib/client.ts";
import { createAccess } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { type Database, openDatabase } from "../../src/db/index.ts";
import { openClient } from "./client.ts";

const SIZE = 20_000_000;
const log = { debug() {}, info() {}, warn() {}, error() {} };

/** A server that answers what the front hands on. */
class TestServer {
  server: Bun.Server<undefined> | null = null;
  aborted = Promise.withResolvers<void>();
  begun = Promise.withResolvers<void>();

  listen({ hostname, port }: { hostname: string; port: number }) {
    this.server = Bun.serve({
      hostname,
      port,
      idleTimeout: 0,
      fetch: (request, server) => this.#answer(request, server),
    });
  }

  async #answer(request: Request, server: Bun.Server<undefined>): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case "/address":
        return new Response(peerAddress(server, request) ?? "nobody known");
      case "/large":
        return new Response("a".repeat(SIZE));
      case "/size":
        return new Response(String((await request.arrayBuffer()).byteLength));
      default: {
        request.signal.addEventListener("abort", () => this.aborted.resolve());
        this.begun.resolve();
        await this.aborted.promise;
        return new Response("late");
      }
    }
  }

  fetch = () => new Response("fetched");
  stop = async (closes?: boolean) => this.server?.stop(closes);
}

let inner: TestServer;
let front: Front;
let database: Database;

beforeAll(async () => {
  const config = loadConfig({});
  database = openDatabase(":memory:");
  const access = await createAccess(database, config.access);
  inner = new TestServer();
  const route = {
    operation: "rpc" as const,
    prefix: "/api/public/rpc/",
    answer: () => ({ abort() {} }),
    tooLarge: () => ({ status: 413, fields: "", errorCode: undefined, body: null }),
  };
  const memory = { hold: () => ({ release() {} }) };
  front = createFront({ access, config, log, observer() {}, route, memory, inner });
  front.listen({ hostname: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await front.stop(true);
  database.close();
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test("the other server is told the client's own address, and of others that they are unknown", async () => {
  const client = await openClient(front.port);
  client.send(get("/address"));
  expect((await client.next()).body).toBe("127.0.0.1");
  const past = await openClient(inner.server?.port ?? 0);
  past.send(get("/address"));
  expect((await past.next()).body).toBe("nobody known");
});

test("a large answer arrives whole, however late it is taken", async () => {
  const client = await openClient(front.port);
  client.send(get("/large"));
  client.pause();
  const other = await openClient(front.port);
  other.send(get("/address"));
  await other.next();
  client.resume();
  expect((await client.next()).body.length).toBe(SIZE);
});

test("a large body arrives whole", async () => {
  const client = await openClient(front.port);
  client.send(
    `POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: ${SIZE}\r\n\r\n${"a".repeat(SIZE)}`,
  );
  expect((await client.next()).body).toBe(String(SIZE));
});

test.each(["end", "terminate"] as const)(
  "a client that leaves by %s has left there too",
  async (how) => {
    inner.aborted = Promise.withResolvers();
    inner.begun = Promise.withResolvers();
    const client = await openClient(front.port);
    client.send(get("/hang"));
    await inner.begun.promise;
    client[how]();
    await inner.aborted.promise;
    await client.closed;
  },
);

test("a connection the other server closes is closed", async () => {
  const client = await openClient(front.port);
  client.send("nonsense\r\n\r\n");
  expect((await client.next()).status).toBe(400);
  expect(await client.closed).toEqual([]);
});

test("a connection is closed when nobody answers behind the front", async () => {
  const client = await openClient(front.port);
  client.send(get("/address"));
  await client.next();
  await inner.server?.stop(true);
  await client.closed;
  const later = await openClient(front.port);
  later.send(get("/address"));
  expect(await later.closed).toEqual([]);
});
