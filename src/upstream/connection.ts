/** An HTTP answer read to its end. */
export interface HttpAnswer {
  readonly status: number;
  /** Value of `Retry-After`, when sent. */
  readonly retryAfter: string | null;
  /** The body, decompressed. */
  readonly bytes: Uint8Array;
}

/** Why there is no complete HTTP answer. */
export type ConnectionFault =
  /** No connection, or it broke before the answer was complete. */
  | "unreachable"
  /** The answer broke off after it had begun. */
  | "truncated"
  /** The answer is larger than allowed. */
  | "too-large"
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
    async send(body, { signal, maxBytes }) {
      let response: Response;
      try {
        response = await post(body, signal, true);
      } catch (error) {
        if (signal.aborted) throw new ConnectionError("aborted");
        if (!warm || !isReset(error)) throw new ConnectionError("unreachable");
        // The pool may hold connections the node has closed since. POST is not repeated by fetch,
        // so it is sent again, once, on a connection of its own.
        warm = false;
        try {
          response = await post(body, signal, false);
        } catch {
          throw new ConnectionError(signal.aborted ? "aborted" : "unreachable");
        }
      }
      warm = true;
      if (response.status >= 300 && response.status < 400) {
        await response.body?.cancel().catch(() => {});
        throw new ConnectionError("redirect");
      }
      const bytes = await readWhole(response, signal, maxBytes);
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

async function readWhole(
  response: Response,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Uint8Array> {
  const declared = response.headers.get("content-length");
  const encoded = response.headers.has("content-encoding");
  const length = declared === null ? undefined : Number(declared);
  if (length !== undefined && length > maxBytes) {
    await response.body?.cancel().catch(() => {});
    throw new ConnectionError("too-large");
  }
  let bytes: Uint8Array;
  try {
    // A compressed body may unfold to far more than its declared length, so it is counted.
    bytes =
      length === undefined || encoded
        ? await readCounted(response, maxBytes)
        : await response.bytes();
  } catch (error) {
    if (error instanceof ConnectionError) throw error;
    throw new ConnectionError(signal.aborted ? "aborted" : "truncated");
  }
  if (length !== undefined && !encoded && bytes.byteLength !== length) {
    throw new ConnectionError("truncated");
  }
  return bytes;
}

async function readCounted(response: Response, maxBytes: number): Promise<Uint8Array> {
  if (!response.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ConnectionError("too-large");
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}
