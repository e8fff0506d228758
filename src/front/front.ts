import type { Socket, TCPSocketListener } from "bun";
import { createChecks, createErrorAnswers, type RequestObserver } from "../access/index.ts";
import type { Access } from "../access/index.ts";
import type { Config } from "../config/index.ts";
import { type Peers, setPeers } from "../lib/client.ts";
import { Ring } from "../lib/ring.ts";
import type { Logger } from "../telemetry/index.ts";
import { dateField } from "./answerBytes.ts";
import { Connection, type ConnectionHost } from "./connection.ts";
import type { Fetch } from "./fetched.ts";
import type { BodyMemory } from "./outbox.ts";
import type { FrontRoute } from "./route.ts";
import { Tunnel } from "./tunnel.ts";

/** The server that answers everything but the front's own route. */
export interface InnerServer {
  listen(at: { hostname: string; port: number }): unknown;
  readonly server: { readonly port?: number | undefined; readonly pendingRequests: number } | null;
  /** Answers a request that came over no connection of its own. */
  readonly fetch: Fetch;
  stop(closesConnections?: boolean): Promise<unknown>;
}

export interface FrontOptions {
  readonly access: Access;
  readonly config: Config;
  readonly log: Logger;
  /** Told of every answer. */
  readonly observer: RequestObserver;
  readonly route: FrontRoute;
  /** Counts large answers while they wait to be taken. */
  readonly memory: BodyMemory;
  readonly inner: InnerServer;
}

/** Where the front is to be reached. */
export interface ListenAt {
  readonly hostname: string;
  readonly port: number;
  /** Files with the certificate and its key. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Whether other processes may listen there too. */
  readonly reusePort?: boolean;
}

/** The service's listener. */
export interface Front {
  /** @throws when the port is taken */
  listen(at: ListenAt): void;
  readonly port: number;
  readonly url: string;
  /** Requests that are being read or answered. */
  readonly inFlight: number;
  /**
   * Takes no more connections and ends idle ones; resolves when all requests are answered.
   * @param closesConnections - ends them all at once
   */
  stop(closesConnections?: boolean): Promise<void>;
}

/** Makes the listener in front of the service; see the README. */
export function createFront(options: FrontOptions): Front {
  return new Listener(options);
}

const SWEEP_MS = 1_000;

/** What a socket carries; over TLS a client may end without ever having opened a connection. */
type Attached = Connection | undefined;

class Listener implements Front, ConnectionHost {
  readonly access;
  readonly check;
  readonly answerTo;
  readonly observer;
  readonly route;
  readonly memory;
  readonly maxBodyBytes: number;
  readonly fetch: Fetch;
  upS = 0;
  dateField = dateField();
  isStopping = false;
  readonly #inner: InnerServer;
  readonly #peers: Peers = new Map();
  readonly #connections = new Ring<Connection>();
  #listener: TCPSocketListener<Attached> | undefined;
  #timer: Timer | undefined;
  #isSecure = false;
  /** Called when the last request of its own is answered. */
  #onIdle: (() => void) | undefined;

  constructor({ access, config, log, observer, route, memory, inner }: FrontOptions) {
    this.access = access;
    this.check = createChecks(access, config);
    this.answerTo = createErrorAnswers(log);
    this.observer = observer;
    this.route = route;
    this.memory = memory;
    this.maxBodyBytes = config.http.maxBodyBytes;
    this.#inner = inner;
    this.fetch = (request) => inner.fetch(request);
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  get url(): string {
    const host = this.#listener?.hostname ?? "";
    const shown = host.includes(":") ? `[${host}]` : host;
    return `${this.#isSecure ? "https" : "http"}://${shown}:${this.port}/`;
  }

  get inFlight(): number {
    return this.#busy() + (this.#inner.server?.pendingRequests ?? 0);
  }

  listen(at: ListenAt): void {
    this.#isSecure = at.tls !== undefined;
    try {
      this.#listener = this.#bind(at);
    } catch (error) {
      throw namingPort(error, at.port);
    }
    this.#inner.listen({ hostname: "127.0.0.1", port: 0 });
    if (this.#inner.server) setPeers(this.#inner.server, this.#peers);
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  #bind({ hostname, port, tls, reusePort = false }: ListenAt): TCPSocketListener<Attached> {
    return Bun.listen<Attached>({
      hostname,
      port,
      ...(reusePort && { reusePort }),
      allowHalfOpen: true,
      ...(tls && { tls: { cert: Bun.file(tls.certFile), key: Bun.file(tls.keyFile) } }),
      socket: {
        open: (socket) => this.#open(socket),
        data: ({ data }, bytes) => data?.receive(bytes),
        drain: ({ data }) => data?.drained(),
        end: ({ data }) => data?.ended(),
        close: ({ data }) => this.#closed(data),
        error: ({ data }) => this.#closed(data),
      },
    });
  }

  openTunnel(client: Socket<unknown>): Tunnel {
    queueMicrotask(() => this.#noticeIdle());
    return new Tunnel(client, this.#inner.server?.port ?? 0, this.#peers);
  }

  async stop(closesConnections = false): Promise<void> {
    this.isStopping = true;
    this.#listener?.stop(closesConnections);
    for (const connection of this.#connections.list()) connection.stop();
    const answered = closesConnections ? undefined : this.#idle();
    const inner = this.#inner.server ? this.#inner.stop(closesConnections) : undefined;
    await Promise.all([answered, inner]);
    clearInterval(this.#timer);
  }

  #open(socket: Socket<Attached>): void {
    const connection = new Connection(socket, this);
    socket.data = connection;
    this.#connections.add(connection);
  }

  #closed(connection: Attached): void {
    if (!connection) return;
    connection.leaveRing();
    connection.closed();
    this.#noticeIdle();
  }

  /** Resolves when no request is under way beside those of the other server. */
  #idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#noticeIdle();
    });
  }

  #noticeIdle(): void {
    if (this.#onIdle && this.#busy() === 0) this.#onIdle();
  }

  #busy(): number {
    let busy = 0;
    for (const one of this.#connections.list()) if (!one.isTunnelled && one.isBusy) busy++;
    return busy;
  }

  #sweep(): void {
    this.upS++;
    this.dateField = dateField();
    for (const connection of this.#connections.list()) connection.sweep();
  }
}

/** The runtime's own words name the address alone. */
function namingPort(error: unknown, port: number): unknown {
  const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  if (isTaken) error.message = `${error.message}: is port ${port} in use?`;
  return error;
}
