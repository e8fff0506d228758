import { afterEach, describe, expect, test } from "bun:test";
import { Cancel } from "../../../src/lib/cancel.ts";
import {
  type Connection,
  ConnectionError,
  type HttpAnswer,
} from "../../../src/upstream/connection.ts";
import { connectHttp } from "../../../src/upstream/http/connect.ts";
import { AnswerMemory } from "../../../src/upstream/memory.ts";
import { send as sendOn } from "../send.ts";
import { certificate, privateKey } from "./certificate.ts";
import { ok, type Peer, startRawServer, until } from "./rawServer.ts";

const memory = new AnswerMemory(10_000_000);
const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
  expect(memory.usedBytes).toBe(0);
});

function start(answer: Parameters<typeof startRawServer>[0]) {
  const server = startRawServer(answer);
  const connection = connectHttp(server.url);
  closers.push(server.stop, () => connection.close());
  return { server, connection };
}

const signal = () => new Cancel();

function send(connection: Connection, body = "{}", cancel = signal(), maxBytes = 1_000_000) {
  return sendOn(connection, body, { signal: cancel, maxBytes, memory });
}

const textOf = ({ bytes }: HttpAnswer) => Buffer.from(bytes).toString();

async function faultOf(pending: Promise<unknown>): Promise<string> {
  const error: unknown = await pending.catch((caught: unknown) => caught);
  return error instanceof ConnectionError ? error.fault : `no fault: ${JSON.stringify(error)}`;
}

/** Answers every request in the same way. */
const always = (act: (peer: Peer, count: number) => void) => {
  return (request: string | undefined, peer: Peer, count: number) => {
    if (request !== undefined) act(peer, count);
  };
};

describe("what is sent", () => {
  test("is one complete request with a length in bytes, not characters", async () => {
    const { server, connection } = start(always((peer) => peer.write(ok("{}"))));
    await send(connection, '{"text":"é–😀"}');
    const [request = ""] = server.requests;
    const [head = "", body = ""] = request.split("\r\n\r\n");
    expect(head).toStartWith("POST / HTTP/1.1\r\nhost: 127.0.0.1:");
    expect(head).toContain("content-type: application/json");
    expect(Buffer.from(body, "latin1").toString()).toBe('{"text":"é–😀"}');
  });

  test("arrives whole however slowly it is taken", async () => {
    const body = `"${"é0123456789".repeat(400_000)}"`;
    const { server, connection } = start(always((peer) => peer.write(ok("{}"))));
    await send(connection, body);
    expect(Buffer.from(server.requests[0]?.split("\r\n\r\n")[1] ?? "", "latin1").toString()).toBe(
      body,
    );
  });
});

describe("kept connections", () => {
  test("as many are opened as requests run at once, and used again", async () => {
    const held: Peer[] = [];
    const { server, connection } = start(always((peer) => void held.push(peer)));
    for (let round = 0; round < 3; round++) {
      const answers = Array.from({ length: 50 }, () => send(connection));
      await until(() => held.length === 50);
      for (const peer of held.splice(0)) peer.write(ok("{}"));
      await Promise.all(answers);
    }
    expect(server.connections()).toBe(50);
  });

  test.each([
    ["says so", ok("{}", "connection: close\r\n")],
    ["sends more than its answer", `${ok("{}")}${ok('{"stray":1}')}`],
    ["ends its body with it", "HTTP/1.1 200 OK\r\n\r\n{}"],
  ])("is not used again when the server %s", async (_, raw) => {
    const { server, connection } = start(
      always((peer) => {
        peer.write(raw);
        if (!raw.includes("ength")) peer.end();
      }),
    );
    for (let n = 1; n <= 3; n++) {
      expect(textOf(await send(connection))).toBe("{}");
      await until(() => server.connections() === n);
    }
  });

  test("bytes that nobody asked for end it, and are no answer to the next request", async () => {
    const peers: Peer[] = [];
    const { server, connection } = start(
      always((peer) => {
        peers.push(peer);
        peer.write(ok(`{"n":${peer.number}}`));
      }),
    );
    await send(connection);
    peers[0]?.write(ok('{"stray":true}'));
    await until(() => server.open() === 0);
    expect(textOf(await send(connection))).toBe('{"n":2}');
  });

  test("is closed before the time the server names, and not met on its way", async () => {
    const { server, connection } = start(
      always((peer) => peer.write(ok("{}", "keep-alive: timeout=1\r\n"))),
    );
    await send(connection);
    await send(connection);
    expect(server.connections()).toBe(2);
  });

  test("an answer before the request was taken whole is an answer, and ends the connection", async () => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.pause();
          socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno");
        },
      },
    });
    const connection = connectHttp(new URL(`http://127.0.0.1:${server.port}/`));
    closers.push(
      () => server.stop(true),
      () => connection.close(),
    );
    const answer = await send(connection, "x".repeat(30_000_000));
    expect([answer.status, textOf(answer)]).toEqual([413, "no"]);
  });

  test("after one fell silent, those idle meanwhile are not trusted either", async () => {
    let isSilent = false;
    const held: Peer[] = [];
    const { server, connection } = start(
      always((peer) => {
        if (!isSilent || peer.number > 3) held.push(peer);
      }),
    );
    const first = [send(connection), send(connection), send(connection)];
    await until(() => held.length === 3);
    for (const peer of held.splice(0)) peer.write(ok("{}"));
    await Promise.all(first);
    isSilent = true;
    const leaving = signal();
    const lost = faultOf(send(connection, "{}", leaving));
    await until(() => server.requests.length === 4);
    leaving.abort();
    expect(await lost).toBe("aborted");
    const next = send(connection);
    await until(() => held.length === 1);
    expect(held[0]?.number).toBe(4);
    held[0]?.write(ok('{"fresh":1}'));
    expect(textOf(await next)).toBe('{"fresh":1}');
  });
});

describe("requests that are given up", () => {
  test("end their connection in every state and leave the others alone", async () => {
    const stages = [
      "",
      "HTTP/1.1 200",
      "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12",
      `HTTP/1.1 200 OK\r\ncontent-length: 500000\r\n\r\n${"x".repeat(1_000)}`,
    ];
    let sent = 0;
    const { server, connection } = start(
      always((peer, count) => {
        peer.write(stages[count - 1] ?? ok("{}"));
        sent++;
      }),
    );
    for (let stage = 1; stage <= stages.length; stage++) {
      const leaving = signal();
      const pending = faultOf(send(connection, "{}", leaving));
      await until(() => sent === stage);
      leaving.abort();
      expect(await pending).toBe("aborted");
      await until(() => server.open() === 0);
    }
    expect(textOf(await send(connection))).toBe("{}");
  });

  test("before they were sent cost nothing", async () => {
    const { server, connection } = start(always((peer) => peer.write(ok("{}"))));
    const gone = signal();
    gone.abort();
    expect(await faultOf(send(connection, "{}", gone))).toBe("aborted");
    expect(server.connections()).toBe(0);
  });

  test("while the connection is opened leave it to the next", async () => {
    const { server, connection } = start(always((peer) => peer.write(ok("{}"))));
    const leaving = signal();
    const pending = faultOf(send(connection, "{}", leaving));
    leaving.abort();
    const next = send(connection);
    expect(await pending).toBe("aborted");
    expect(textOf(await next)).toBe("{}");
    expect([server.connections(), server.requests.length]).toEqual([1, 1]);
  });

  test("for a body that drips without end stop within their time", async () => {
    let dripping: ReturnType<typeof setInterval> | undefined;
    const { server, connection } = start(
      always((peer) => {
        peer.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        dripping = setInterval(() => peer.write("1\r\nx\r\n"), 2);
      }),
    );
    const leaving = signal();
    const pending = faultOf(send(connection, "{}", leaving));
    setTimeout(() => leaving.abort(), 50);
    expect(await pending).toBe("aborted");
    await until(() => server.open() === 0);
    clearInterval(dripping);
  });
});

describe("broken connections", () => {
  test("one reset before any answer fails, once, where it was fresh", async () => {
    const { server, connection } = start(always((peer) => peer.reset()));
    expect(await faultOf(send(connection))).toBe("unreachable");
    expect(server.requests.length).toBe(1);
  });

  test("one reset within the answer is truncated and not repeated", async () => {
    const { server, connection } = start(
      always((peer, count) => {
        peer.write(count === 1 ? ok("{}") : "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok");
        if (count > 1) peer.end();
      }),
    );
    await send(connection);
    expect(await faultOf(send(connection))).toBe("truncated");
    expect(server.requests.length).toBe(2);
  });

  test("many kept ones the server closed together are all replaced, each request sent anew once", async () => {
    const held: Peer[] = [];
    let isDying = false;
    const { server, connection } = start(
      always((peer) => {
        if (isDying && peer.number <= 20) peer.reset();
        else held.push(peer);
      }),
    );
    const first = Array.from({ length: 20 }, () => send(connection));
    await until(() => held.length === 20);
    for (const peer of held.splice(0)) peer.write(ok("{}"));
    await Promise.all(first);
    isDying = true;
    const second = Array.from({ length: 20 }, () => send(connection));
    await until(() => held.length === 20);
    for (const peer of held.splice(0)) peer.write(ok("{}"));
    await Promise.all(second);
    expect([server.connections(), server.requests.length]).toEqual([40, 60]);
  });

  test("a name that does not resolve and a port nobody listens on are unreachable", async () => {
    for (const url of ["http://node.invalid/", "http://127.0.0.1:1/"]) {
      expect(await faultOf(send(connectHttp(new URL(url))))).toBe("unreachable");
    }
  });
});

describe("the same as fetch", () => {
  const gzip = Bun.gzipSync('{"zipped":"yes"}');
  const bodies: [string, string | Buffer][] = [
    ["a length", ok('{"a":1}')],
    [
      "chunks",
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\n{"a\r\n4\r\n":1}\r\n0\r\nt: 1\r\n\r\n',
    ],
    ["an interim answer", `HTTP/1.1 100 Continue\r\n\r\n${ok('{"a":1}')}`],
    ["no content", "HTTP/1.1 204 No Content\r\n\r\n"],
    ["an error status", "HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\n{}"],
    [
      "gzip",
      Buffer.concat([
        Buffer.from(
          `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${gzip.length}\r\n\r\n`,
        ),
        gzip,
      ]),
    ],
    ["the end of the connection", 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"a":1}'],
  ];
  test.each(bodies)("%s", async (_, raw) => {
    const { server, connection } = start(
      always((peer) => {
        peer.write(raw);
        if (raw.includes("connection: close")) peer.end();
      }),
    );
    const mine = await send(connection);
    const theirs = await fetch(server.url, { method: "POST", body: "{}" });
    expect([mine.status, mine.retryAfter, textOf(mine)]).toEqual([
      theirs.status,
      theirs.headers.get("retry-after"),
      await theirs.text(),
    ]);
  });
});

/** A server that says what it was asked, under the certificate. */
function startSecure(): URL {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: certificate, key: privateKey },
    fetch: async (request) =>
      new Response(`${request.headers.get("host")} ${await request.text()}`),
  });
  closers.push(() => server.stop(true));
  return new URL(`https://node.test:${server.port}/`);
}

describe("encrypted connections", () => {
  test("reach the pinned address under the name on the certificate", async () => {
    const url = startSecure();
    const connection = connectHttp(url, "127.0.0.1", { ca: certificate });
    closers.push(() => connection.close());
    const sends = Array.from({ length: 5 }, (_, n) => send(connection, String(n)));
    const answers = await Promise.all(sends);
    expect(answers.map(textOf)).toEqual([0, 1, 2, 3, 4].map((n) => `${url.host} ${n}`));
  });

  test("to an address are checked against the addresses on the certificate", async () => {
    const { port } = startSecure();
    const connection = connectHttp(new URL(`https://127.0.0.1:${port}/`), undefined, {
      ca: certificate,
    });
    closers.push(() => connection.close());
    expect((await send(connection)).status).toBe(200);
  });

  test.each([
    ["another name", "other.test", certificate],
    ["an authority that is not trusted", "node.test", undefined],
  ])("are refused for %s before anything is said", async (_, name, ca) => {
    const { port } = startSecure();
    const connection = connectHttp(
      new URL(`https://${name}:${port}/secret-path`),
      "127.0.0.1",
      ca === undefined ? {} : { ca },
    );
    closers.push(() => connection.close());
    expect(await faultOf(send(connection))).toBe("unreachable");
  });

  test("to a server that speaks no TLS fail, and it never sees a request", async () => {
    const server = startRawServer((_, peer) => peer.write(ok("{}")));
    closers.push(server.stop);
    const connection = connectHttp(new URL(`https://127.0.0.1:${server.port}/`));
    closers.push(() => connection.close());
    expect(await faultOf(send(connection))).toBe("unreachable");
    expect(server.requests).toEqual([]);
  });
});
