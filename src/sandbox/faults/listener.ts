import type { Outcome } from "./outcome.ts";

/** A listener that can be closed like a machine that went away, and opened again on its port. */
export interface Listener {
  readonly port: number;
  /** Accepts connections; nothing happens when it does already. */
  open(): void;
  /** Cuts every connection and refuses new ones. */
  close(): Promise<void>;
}

type Handler = (request: Request) => Promise<Response>;

const MAX_BODY_BYTES = 16 * 1_048_576;

/**
 * Opens a listener on the loopback interface.
 * @param port - 0 picks a free one
 */
export function openListener(port: number, handler: Handler): Listener {
  let server: Bun.Server<undefined> | undefined = listen(port, handler);
  const chosen = server.port ?? port;
  return {
    port: chosen,
    open() {
      server ??= listen(chosen, handler);
    },
    async close() {
      const closing = server;
      server = undefined;
      await closing?.stop(true);
    },
  };
}

/** The answer that does to the connection what the outcome says. */
export function toResponse(outcome: Outcome, request: Request): Response | Promise<Response> {
  if (outcome.kind === "respond") {
    const { body, status, headers } = outcome;
    return new Response(body, { status, ...(headers && { headers }) });
  }
  if (outcome.kind === "hang") return untilCallerLeaves(request);
  const bytes = outcome.kind === "truncate" ? Buffer.from(outcome.body) : undefined;
  return brokenResponse(bytes?.subarray(0, bytes.byteLength >> 1));
}

/** A body whose stream fails resets the connection; before the first byte nothing is sent at all. */
function brokenResponse(sent: Uint8Array | undefined): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent) {
        controller.enqueue(sent);
        // The bytes must leave before the connection is cut.
        await Bun.sleep(1);
      }
      controller.error(undefined);
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

function untilCallerLeaves(request: Request): Promise<Response> {
  return new Promise((resolve) => {
    request.signal.addEventListener("abort", () => resolve(new Response()), { once: true });
  });
}

function listen(port: number, handler: Handler): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port,
    // Callers keep connections; closing idle ones would be a fault nobody scripted.
    idleTimeout: 0,
    maxRequestBodySize: MAX_BODY_BYTES,
    fetch: handler,
  });
}
