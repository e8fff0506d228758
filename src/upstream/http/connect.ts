import type { Connection } from "../connection.ts";
import { Origin } from "./origin.ts";

/** What is trusted beside the certificates the system trusts. */
export interface HttpOptions {
  /** Certificates of authorities, PEM. */
  readonly ca?: string;
}

/**
 * A node's connections: its own keep-alive sockets, over TLS for https.
 * @param address - IP address to connect to in place of the URL's name, which was checked before;
 *   the name stays the `Host` and the name on the certificate
 */
export function connectHttp(url: URL, address?: string, options: HttpOptions = {}): Connection {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isSecure = url.protocol === "https:";
  return new Origin({
    hostname: address ?? host,
    port: Number(url.port || (isSecure ? 443 : 80)),
    tls: isSecure ? { serverName: host, rejectUnauthorized: true, ...options } : undefined,
    head: requestHead(url),
  });
}

/** Everything of a request that stands before the length of its body. */
function requestHead(url: URL): string {
  const fields = [
    `host: ${url.host}`,
    "user-agent: causeway",
    "accept: application/json",
    "accept-encoding: gzip",
    "content-type: application/json",
    ...credentials(url),
  ];
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\n${fields.join("\r\n")}\r\ncontent-length: `;
}

function credentials({ username, password }: URL): string[] {
  if (!username && !password) return [];
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return [`authorization: Basic ${Buffer.from(pair).toString("base64")}`];
}
