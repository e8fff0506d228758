import type { Server } from "bun";

/** Addresses of the clients whose connections another listener hands on, by their port here. */
export type Peers = Map<number, string>;

const peersOf = new WeakMap<object, Peers>();

/** Says who the clients of a server are that is reached through another listener only. */
export function setPeers(server: object, peers: Peers): void {
  peersOf.set(server, peers);
}

/**
 * Address of the client that sent a request. Where connections are handed on, one that was not is
 * from nobody known.
 */
export function peerAddress(server: Server<unknown>, request: Request): string | undefined {
  const end = server.requestIP(request);
  const peers = peersOf.get(server);
  if (!end || !peers) return end?.address;
  return peers.get(end.port);
}
