import type { Server } from "bun";
import type { CancelSignal } from "./cancel.ts";
import type { FieldSource } from "./http.ts";

/** Addresses of the clients whose connections another listener hands on, by their port here. */
export type Peers = Map<number, string>;

/** Who sent a request that did not come over a connection of the runtime's server. */
export interface Client extends CancelSignal {
  readonly peer: () => string | undefined;
  /** Fields that are sent beside those of the `Response`, where putting them in costs more. */
  more?: FieldSource | undefined;
}

const peersOf = new WeakMap<object, Peers>();
const clients = new WeakMap<Request, Client>();

/** Says who the clients of a server are that is reached through another listener only. */
export function setPeers(server: object, peers: Peers): void {
  peersOf.set(server, peers);
}

/** Says who sent a request that was made in this process. */
export function setClient(request: Request, client: Client): void {
  clients.set(request, client);
}

/**
 * Address of the client that sent a request. Where connections are handed on, one that was not is
 * from nobody known.
 */
export function peerAddress(server: Server<unknown> | null, request: Request): string | undefined {
  const client = clients.get(request);
  if (client) return client.peer();
  const end = server?.requestIP(request);
  const peers = server && peersOf.get(server);
  if (!end || !peers) return end?.address;
  return peers.get(end.port);
}

/** Who sent a request that was made in this process. */
export function clientOf(request: Request): Client | undefined {
  return clients.get(request);
}

/** Ends when the client that sent a request leaves. */
export function clientSignal(request: Request): CancelSignal {
  return clients.get(request) ?? request.signal;
}
