import { type AnswerMemory, type Lease, MIN_COUNTED_BYTES } from "./memory.ts";

/** An HTTP answer read to its end. */
export interface HttpAnswer {
  readonly status: number;
  /** Value of `Retry-After`, when sent. */
  readonly retryAfter: string | null;
  /** The body, decompressed. */
  readonly bytes: Uint8Array;
  /** Set where this is one item's part of the answer to several requests. */
  readonly isShared?: boolean;
}

/** Why there is no complete HTTP answer. */
export type ConnectionFault =
  /** No connection, or it broke before the answer was complete. */
  | "unreachable"
  /** The answer broke off after it had begun. */
  | "truncated"
  /** The answer is larger than allowed. */
  | "too-large"
  /** The answers under way take all the memory there is for them. */
  | "no-memory"
  /** The node sent us elsewhere; a POST is never redirected. */
  | "redirect"
  /** The caller's signal ended the request. */
  | "aborted";

/** Carries no URL and no text of the node, as either may hold a secret. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  constructor(readonly fault: ConnectionFault) {
    super(`upstream connection: ${fault}`);
  }
}

export interface SendOptions {
  /** Ends the request, whatever its state. */
  readonly signal: AbortSignal;
  /** Largest body accepted, after decompression. */
  readonly maxBytes: number;
  /** Counts the answer's bytes while it is read. */
  readonly memory: AnswerMemory;
}

/** One upstream's own keep-alive connections. */
export interface Connection {
  /**
   * Posts a JSON body and reads the answer whole.
   * @throws ConnectionError
   */
  send(body: string, options: SendOptions): Promise<HttpAnswer>;
  /** Closes idle connections. */
  close(): void;
}

/** Makes a node's connections; replaced where another HTTP client is to be used. */
export type Connect = (url: URL, address?: string) => Connection;

/** Idle connections kept per upstream; more than this only help after a burst. */
const MAX_IDLE_SOCKETS = 64;
/** Idle time after which we close first, s; below the 60 s at which common nodes and proxies do. */
const IDLE_TIMEOUT_SECONDS = 50;

/**
 * Connections over the runtime's fetch, with a session (and so a pool) per upstream.
 * @param address - IP address to connect to in place of the URL's name, which was checked before
 */
export function connectHttp(url: URL, address?: string): Connection {
  const target = new URL(url);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (target.username || target.password) {
    const credentials = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
    headers["authorization"] = `Basic ${Buffer.from(credentials).toString("base64")}`;
    target.username = "";
    target.password = "";
  }
  if (address !== undefined) {
    headers["host"] = target.host;
    target.hostname = address.includes(":") ? `[${address}]` : address;
  }
  const session = new Bun.FetchSession({
    keepAlive: { idleTimeout: IDLE_TIMEOUT_SECONDS, maxIdleSockets: MAX_IDLE_SOCKETS },
    ...(address !== undefined && { tls: { serverName: url.hostname } }),
  });
  const href = target.href;
  /** True once an answer came, so that a kept connection may be in the pool and may be dead. */
  let warm = false;

  const post = (body: string, signal: AbortSignal, keepalive: boolean) =>
    session.fetch(href, { method: "POST", headers, body, redirect: "manual", keepalive, signal });

  return {
    async send(body, { signal, maxBytes, memory }) {
      let response: Response;
      const wasWarm = warm;
      try {
        response = await post(body, signal, true);
      } catch (error) {
        if (signal.aborted) throw new ConnectionError("aborted");
        if (!wasWarm || !isReset(error)) throw new ConnectionError("unreachable");
        // The pool may hold connections the node has closed since. POST is not repeated by fetch,
        // so it is sent again, once, on a connection of its own.
        try {
          response = await post(body, signal, false);
        } catch {
          // It is not the age of the connection; nothing is repeated until something was answered.
          warm = false;
          throw new ConnectionError(signal.aborted ? "aborted" : "unreachable");
        }
      }
      warm = true;
      if (response.status >= 300 && response.status < 400) {
        await response.body?.cancel().catch(() => {});
        throw new ConnectionError("redirect");
      }
      const bytes = await readWhole(response, { signal, maxBytes, memory });
      return { status: response.status, retryAfter: response.headers.get("retry-after"), bytes };
    },
    close: () => session.close(),
  };
}

/** The same connection, which reads no answer above `maxBytes`. */
export function cappedConnection(connection: Connection, maxBytes: number): Connection {
  return {
    send: (body, options) =>
      connection.send(body, { ...options, maxBytes: Math.min(options.maxBytes, maxBytes) }),
    close: () => connection.close(),
  };
}

function isReset(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return (
    code === undefined || code === "ECONNRESET" || code === "EPIPE" || code === "ConnectionClosed"
  );
}

async function readWhole(response: Response, options: SendOptions): Promise<Uint8Array> {
  const { signal, maxBytes } = options;
  const declared = response.headers.get("content-length");
  const length = declared === null ? undefined : Number(declared);
  try {
    if (length !== undefined && length > maxBytes) throw new ConnectionError("too-large");
    // A compressed body may unfold to far more than its declared length, so it is counted.
    if (length === undefined || response.headers.has("content-encoding")) {
      return await readCounted(response, options);
    }
    const bytes = await readDeclared(response, length, options);
    if (bytes.byteLength !== length) throw new ConnectionError("truncated");
    return bytes;
  } catch (error) {
    await response.body?.cancel().catch(() => {});
    if (signal.aborted) throw new ConnectionError("aborted");
    throw error instanceof ConnectionError ? error : new ConnectionError("truncated");
  }
}

/** Reads a body of known length, once there is room for it; until then the node waits. */
async function readDeclared(
  response: Response,
  length: number,
  { signal, memory }: SendOptions,
): Promise<Uint8Array> {
  if (length < MIN_COUNTED_BYTES) return response.bytes();
  const lease = await memory.take(length, signal);
  if (!lease) throw new ConnectionError("no-memory");
  try {
    return await response.bytes();
  } finally {
    releaseLater(lease);
  }
}

/** Reads a body whose length shows only at its end. */
async function readCounted(
  response: Response,
  { maxBytes, memory }: SendOptions,
): Promise<Uint8Array> {
  if (!response.body) return new Uint8Array();
  const lease = memory.hold(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new ConnectionError("too-large");
      chunks.push(chunk);
      // Joining the chunks needs the room once more. Whoever waited here could wait for another
      // who waits here too, so there is no waiting.
      const isThere = size < MIN_COUNTED_BYTES || lease.grow(2 * size - lease.bytes);
      if (!isThere) throw new ConnectionError("no-memory");
    }
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
  } finally {
    releaseLater(lease);
  }
}

/** Until the turn ends, whoever gets the bytes has time to count them as its own. */
function releaseLater(lease: Lease): void {
  if (lease.bytes > 0) setImmediate(() => lease.release());
}
