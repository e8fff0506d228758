import type { Socket } from "bun";
import { results } from "./answers.ts";

/**
 * Scripted JSON-RPC nodes, one per entry of the argument: a JSON array of `NodeScript` with a port.
 *
 * It speaks HTTP on plain sockets, because a node that costs more per answer than the servers in
 * front of it would be what is measured. It understands what proxies and load generators send:
 * complete requests with a length, one after the other.
 */
interface Script {
  readonly port: number;
  readonly delayMs?: number;
  readonly errorShare?: number;
  readonly hangs?: boolean;
}

interface Connection {
  /** What came of a request that is not complete, one character per byte. */
  received: string;
  unsent: Buffer | undefined;
}

const HEAD_END = "\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
const READY = `${OK}2\r\n\r\nok`;
const FAILED = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n";
/** Asked by whoever watches the node, so they are answered even by one that hangs. */
const aboutNode = new Set(["eth_chainId", "eth_blockNumber"]);

function listen(script: Script): void {
  Bun.listen<Connection>({
    hostname: "127.0.0.1",
    port: script.port,
    socket: {
      open(socket) {
        socket.data = { received: "", unsent: undefined };
        socket.setNoDelay(true);
      },
      data: (socket, chunk) => receive(socket, chunk, script),
      drain(socket) {
        const { unsent } = socket.data;
        socket.data.unsent = undefined;
        if (unsent) write(socket, unsent);
      },
    },
  });
}

function receive(socket: Socket<Connection>, chunk: Buffer, script: Script): void {
  const { received } = socket.data;
  let text = received + chunk.toString("latin1");
  for (;;) {
    const headEnd = text.indexOf(HEAD_END);
    if (headEnd === -1) break;
    const end = headEnd + HEAD_END.length + contentLength(text, headEnd);
    if (text.length < end) break;
    answer(socket, text.slice(headEnd + HEAD_END.length, end), script);
    text = text.slice(end);
  }
  socket.data.received = text;
}

/** Senders differ in the case of the name, not in its end. */
function contentLength(text: string, headEnd: number): number {
  const start = text.indexOf("ength: ");
  return start === -1 || start > headEnd ? 0 : Number.parseInt(text.slice(start + 7, headEnd), 10);
}

function answer(socket: Socket<Connection>, body: string, script: Script): void {
  if (body === "") return write(socket, READY);
  if (script.hangs && !aboutNode.has(methodOf(body))) return;
  const isFailed = script.errorShare !== undefined && Math.random() < script.errorShare;
  const text = isFailed ? FAILED : reply(body);
  if (script.delayMs === undefined) write(socket, text);
  else setTimeout(() => write(socket, text), script.delayMs);
}

function reply(body: string): string {
  const content = body.startsWith("[") ? batch(body) : single(methodOf(body), idOf(body));
  return `${OK}${content.length}\r\n\r\n${content}`;
}

function batch(body: string): string {
  const calls: { method: string; id: unknown }[] = JSON.parse(body);
  return `[${calls.map(({ method, id }) => single(method, JSON.stringify(id))).join(",")}]`;
}

function single(method: string, id: string): string {
  const result = results.get(method);
  return result === undefined
    ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"unknown method"}}`
    : `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

function methodOf(body: string): string {
  const start = body.indexOf('"method":"') + 10;
  return body.slice(start, body.indexOf('"', start));
}

function idOf(body: string): string {
  return /"id":\s*("[^"]*"|-?\d+)/.exec(body)?.[1] ?? "null";
}

function write(socket: Socket<Connection>, text: string | Buffer): void {
  const { data } = socket;
  if (data.unsent) {
    data.unsent = Buffer.concat([data.unsent, Buffer.from(text)]);
    return;
  }
  const written = socket.write(text);
  if (written < text.length) data.unsent = Buffer.from(text).subarray(Math.max(0, written));
}

for (const script of JSON.parse(process.argv[2] ?? "[]") as Script[]) listen(script);
