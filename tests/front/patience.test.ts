import { beforeEach, describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import { createAccess, createChecks, createErrorAnswers } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { dateField } from "../../src/front/answerBytes.ts";
import { Connection, type ConnectionHost } from "../../src/front/connection.ts";
import type { FrontRequest, Replies } from "../../src/front/route.ts";
import { rpcRequest } from "./client.ts";

const config = loadConfig({});
const database = openDatabase(":memory:");
const access = await createAccess(database, config.access);
const { secret } = await access.keys.create({ environment: "test", scopes: ["read"] }, "test");
const BODY_BYTES = 2_000_000;

/** A socket that takes as much as it is told to. */
class TestSocket {
  takes = Number.POSITIVE_INFINITY;
  sent = 0;
  isOpen = true;
  remoteAddress = "127.0.0.1";
  write(_: Uint8Array, __: number, size: number): number {
    const written = Math.min(size, this.takes);
    this.takes -= written;
    this.sent += written;
    return written;
  }
  terminate = () => (this.isOpen = false);
  end = this.terminate;
  pause() {}
  resume() {}
}

let held = 0;
let calls: { request: FrontRequest; to: Replies }[] = [];
let socket: TestSocket;
let connection: Connection;
const host = {
  access,
  check: createChecks(access, config),
  answerTo: createErrorAnswers({ debug() {}, info() {}, warn() {}, error() {} }),
  observer() {},
  route: {
    operation: "rpc" as const,
    prefix: "/api/public/rpc/",
    answer(request: FrontRequest, to: Replies) {
      calls.push({ request, to });
      return { abort() {} };
    },
    tooLarge: () => ({ status: 413, fields: "", errorCode: undefined, body: null }),
  },
  memory: {
    hold(bytes: number) {
      held += bytes;
      return { release: () => void (held -= bytes) };
    },
  },
  maxBodyBytes: 1_048_576,
  upS: 0,
  dateField: dateField(),
  isStopping: false,
  fetch: () => new Response(),
  openTunnel: () => {
    throw new Error("nothing is to be handed on");
  },
} satisfies ConnectionHost;

beforeEach(() => {
  held = 0;
  calls = [];
  socket = new TestSocket();
  connection = new Connection(socket as unknown as Socket<unknown>, host);
});

/** Lets as many seconds pass. */
function pass(seconds: number): void {
  for (let second = 0; second < seconds; second++) {
    host.upS++;
    connection.sweep();
  }
}

/** Sends a request and gives the way to answer it. */
async function ask(): Promise<Replies> {
  connection.receive(Buffer.from(rpcRequest(secret, "{}")));
  while (calls.length === 0) await new Promise(setImmediate);
  const [call] = calls;
  if (!call) throw new Error("there is a call");
  return call.to;
}

async function answer(size: number): Promise<void> {
  const to = await ask();
  to.reply({ status: 400, fields: "", errorCode: undefined, body: new Uint8Array(size) });
}

describe("a client is hung up on", () => {
  test("65 seconds after its last request", async () => {
    await answer(2);
    pass(65);
    expect(socket.isOpen).toBe(true);
    pass(1);
    expect(socket.isOpen).toBe(false);
  });

  test("when a head takes 10 seconds, however it trickles", () => {
    const text = rpcRequest(secret, "{}");
    for (let second = 0; second < 10; second++) {
      connection.receive(Buffer.from(text.slice(second, second + 1)));
      pass(1);
    }
    expect(socket.isOpen).toBe(true);
    pass(1);
    expect(socket.isOpen).toBe(false);
  });

  test("when 10 seconds pass without anything of a body", async () => {
    connection.receive(Buffer.from(rpcRequest(secret, "x".repeat(1_000)).slice(0, -900)));
    await new Promise(setImmediate);
    for (let second = 0; second < 30; second += 10) {
      connection.receive(Buffer.from("x"));
      pass(10);
    }
    expect(socket.isOpen).toBe(true);
    pass(1);
    expect(socket.isOpen).toBe(false);
  });

  test("when it takes nothing of an answer for 30 seconds, and its memory is free", async () => {
    socket.takes = 100_000;
    await answer(BODY_BYTES);
    expect(held).toBe(BODY_BYTES);
    pass(30);
    socket.takes = 1;
    connection.drained();
    pass(30);
    expect(socket.isOpen).toBe(true);
    pass(1);
    expect(socket.isOpen).toBe(false);
    connection.closed();
    expect(held).toBe(0);
  });
});

test("a call under way has all the time it needs", async () => {
  await ask();
  pass(1_000);
  expect(socket.isOpen).toBe(true);
});

test("a large answer is counted once, until it is taken", async () => {
  socket.takes = 0;
  await answer(BODY_BYTES);
  for (let piece = 1; piece < 20; piece++) {
    expect(held).toBe(BODY_BYTES);
    socket.takes = 100_000;
    connection.drained();
  }
  socket.takes = Number.POSITIVE_INFINITY;
  connection.drained();
  expect(held).toBe(0);
  expect(socket.sent).toBeGreaterThan(BODY_BYTES);
});

test("a small answer of which the socket takes a part goes on where it stopped", async () => {
  socket.takes = 7;
  await answer(10);
  const before = socket.sent;
  socket.takes = Number.POSITIVE_INFINITY;
  connection.drained();
  expect(before).toBe(7);
  expect(socket.sent).toBeGreaterThan(7 + 10);
});
