import type { Socket } from "bun";

/** A connection as the server sees it. */
export interface Peer {
  /** Number of the connection, from 1. */
  readonly number: number;
  write(text: string | Uint8Array): void;
  /** Ends the connection in order. */
  end(): void;
  /** Breaks it. */
  reset(): void;
}

/** A server that speaks bytes: each request that came whole is given to `answer`. */
export interface RawServer {
  readonly port: number;
  readonly url: URL;
  /** Connections so far, and those open now. */
  readonly connections: () => number;
  readonly open: () => number;
  /** Requests that came whole. */
  readonly requests: readonly string[];
  /** All bytes that came. */
  readonly bytes: () => number;
  stop(): void;
}

interface State {
  readonly peer: Peer;
  received: string;
}

/** Starts a server. @param answer - called for each request, and with undefined for a connection */
export function startRawServer(
  answer: (request: string | undefined, peer: Peer, count: number) => void,
): RawServer {
  const requests: string[] = [];
  let connections = 0;
  let open = 0;
  let bytes = 0;
  const server = Bun.listen<State>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        open++;
        const peer = peerOf(socket, ++connections);
        socket.data = { peer, received: "" };
        answer(undefined, peer, requests.length);
      },
      data(socket, chunk) {
        bytes += chunk.length;
        const { data } = socket;
        data.received += chunk.toString("latin1");
        for (let end = endOfRequest(data.received); end !== -1; end = endOfRequest(data.received)) {
          const request = data.received.slice(0, end);
          data.received = data.received.slice(end);
          requests.push(request);
          answer(request, data.peer, requests.length);
        }
      },
      close: () => void open--,
    },
  });
  return {
    port: server.port,
    url: new URL(`http://127.0.0.1:${server.port}/`),
    connections: () => connections,
    open: () => open,
    requests,
    bytes: () => bytes,
    stop: () => server.stop(true),
  };
}

/** A complete answer of known length. */
export function ok(body: string, fields = ""): string {
  return `HTTP/1.1 200 OK\r\n${fields}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Waits until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error("it did not come to be");
    await Bun.sleep(2);
  }
}

function peerOf(socket: Socket<State>, number: number): Peer {
  return {
    number,
    write: (text) => void socket.write(text),
    end: () => void socket.end(),
    reset: () => void socket.terminate(),
  };
}

function endOfRequest(received: string): number {
  const head = received.indexOf("\r\n\r\n");
  if (head === -1) return -1;
  const length = Number(/content-length: *(\d+)/i.exec(received.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return received.length >= end ? end : -1;
}
