/** An answer as its bytes say. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A client that sends what it is told, byte by byte, and reads the answers that come. */
export interface RawClient {
  send(bytes: string | Uint8Array): void;
  /** The next answer; rejects when the connection ends before. */
  next(): Promise<RawAnswer>;
  /** Resolves when the server closed the connection, with the answers nobody asked for. */
  readonly closed: Promise<readonly RawAnswer[]>;
  pause(): void;
  resume(): void;
  /** Says that nothing more is sent. */
  end(): void;
  /** Breaks the connection. */
  terminate(): void;
}

/** Opens a connection to a port of this machine. */
export async function openClient(port: number): Promise<RawClient> {
  let received = Buffer.alloc(0);
  let unsent = Buffer.alloc(0);
  let isClosed = false;
  const asked: PromiseWithResolvers<RawAnswer>[] = [];
  const unasked: RawAnswer[] = [];
  const closed = Promise.withResolvers<readonly RawAnswer[]>();
  const close = () => {
    isClosed = true;
    for (const one of asked) one.reject(new Error("the connection ended"));
    closed.resolve(unasked);
  };
  const flush = () => {
    const written = socket.write(unsent);
    unsent = unsent.subarray(Math.max(0, written));
  };
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, bytes) {
        received = Buffer.concat([received, bytes]);
        for (;;) {
          const answer = readAnswer(received);
          if (!answer) return;
          received = received.subarray(answer.size);
          const first = asked.shift();
          if (first) first.resolve(answer);
          else unasked.push(answer);
        }
      },
      drain: flush,
      close,
      error: close,
    },
  });
  return {
    send(bytes) {
      unsent = Buffer.concat([unsent, Buffer.from(bytes as string, "latin1")]);
      flush();
    },
    next() {
      const waiting = Promise.withResolvers<RawAnswer>();
      const come = unasked.shift();
      if (come) waiting.resolve(come);
      else if (isClosed) waiting.reject(new Error("the connection ended"));
      else asked.push(waiting);
      return waiting.promise;
    },
    closed: closed.promise,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    end: () => socket.shutdown(),
    terminate: () => socket.terminate(),
  };
}

function readAnswer(bytes: Buffer): (RawAnswer & { size: number }) | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [line = "", ...fields] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = new Map(
    fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const size = end + 4 + Number(headers.get("content-length") ?? 0);
  if (bytes.length < size) return undefined;
  const status = Number(line.split(" ")[1]);
  return { status, headers, body: bytes.toString("utf8", end + 4, size), size };
}

/** A POST to the proxy, as text. @param fields - whole lines beside those of every request */
export function rpcRequest(secret: string, body: string, fields: readonly string[] = []): string {
  const lines = [
    "POST /api/public/rpc/1 HTTP/1.1",
    "Host: 127.0.0.1",
    `x-api-key: ${secret}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...fields,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** A JSON-RPC call with this id. */
export function rpcCall(id: number, method = "eth_call"): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params: [id] });
}
