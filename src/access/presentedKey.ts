import type { RequestHead } from "./head.ts";
import { ShownKey } from "./keys.ts";

/** A request's fields. */
type Fields = Pick<RequestHead, "get">;

/** The subprotocol of JSON-RPC sockets, which the server selects when it is offered. */
export const SOCKET_PROTOCOL = "jsonrpc";

/** Beside it, a client that cannot set headers offers its key as a subprotocol of this form. */
const KEY_PROTOCOL_PREFIX = "key.";

/** Whether a request asks to become a WebSocket (RFC 6455, section 4.1). */
export function isUpgrade(head: Pick<RequestHead, "method" | "get">): boolean {
  return head.method === "GET" && head.get("upgrade")?.trim().toLowerCase() === "websocket";
}

/** The subprotocols a client offers, in its order. */
export function offeredProtocols(fields: Fields): string[] {
  return (fields.get("sec-websocket-protocol") ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/**
 * The key of a request, from `Authorization: Bearer` or `x-api-key`. WebSocket clients can rarely
 * set these, so an upgrade may also bring it as a subprotocol beside `jsonrpc`, or as the password
 * of the URL, which clients send as `Authorization: Basic`.
 * @returns undefined when there is none, or two that differ
 */
export function shownKey(fields: Fields, upgrade: boolean): ShownKey | undefined {
  const secret = presentedSecret(fields, upgrade);
  return secret === undefined ? undefined : new ShownKey(secret);
}

function presentedSecret(fields: Fields, upgrade: boolean): string | undefined {
  const authorization = fields.get("authorization") ?? "";
  if (authorization === "" && !upgrade) return fields.get("x-api-key") || undefined;
  const presented = [
    /^bearer +(\S+)$/i.exec(authorization)?.[1],
    fields.get("x-api-key") || undefined,
    ...(upgrade ? [basicPassword(authorization), protocolKey(fields)] : []),
  ].filter((key) => key !== undefined);
  return new Set(presented).size === 1 ? presented[0] : undefined;
}

function basicPassword(authorization: string): string | undefined {
  const encoded = /^basic +(\S+)$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString();
  const colon = text.indexOf(":");
  return colon === -1 ? undefined : text.slice(colon + 1) || undefined;
}

function protocolKey(fields: Fields): string | undefined {
  const offered = offeredProtocols(fields);
  if (!offered.includes(SOCKET_PROTOCOL)) return undefined;
  return offered
    .find((name) => name.startsWith(KEY_PROTOCOL_PREFIX))
    ?.slice(KEY_PROTOCOL_PREFIX.length);
}
