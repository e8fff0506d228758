import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { ApiError } from "../lib/errors.ts";
import { isPublicAddress } from "./publicAddress.ts";

const MAX_URL_LENGTH = 2_048;
const RESOLVE_TIMEOUT_MS = 750;

/**
 * Ports a caller's URL may name: https, its common alternative, and the customary ports of EVM
 * nodes (8545, Nitro's 8547) and Solana nodes (8899). Others need an entry in `allowedOrigins`.
 */
const PUBLIC_PORTS: ReadonlySet<string> = new Set(["443", "8443", "8545", "8547", "8899"]);

/** Names that mean this host or its network whatever they resolve to (RFC 6761, 6762, 9476). */
const LOCAL_SUFFIXES = [".localhost", ".local", ".internal", ".home.arpa", ".lan", ".alt"];

/** A caller's URL, checked, with the one address it may be connected to. */
export interface PinnedTarget {
  /** The URL as the caller meant it: normalised, without fragment and without a final dot. */
  readonly url: URL;
  /**
   * The checked IP address to connect to in place of the URL's name, which stays the `Host` and
   * the name on the certificate; undefined when the URL's host is that address itself.
   */
  readonly address: string | undefined;
}

/** Turns a host name into all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** What a guard trusts beyond the public internet. */
export interface UrlGuardOptions {
  /** Origins (scheme://host:port) that may be plain http, private, and on any port. */
  readonly allowedOrigins: readonly string[];
  /** The operator's own upstream URLs; a caller who names one exactly may use it. */
  readonly configuredUrls: readonly string[];
  /** Replaces the system's resolver in tests. */
  readonly resolve?: Resolve;
  /** Longest wait for the resolver, 750 ms by default. */
  readonly resolveTimeoutMs?: number;
}

/** Decides which URLs given by callers may be connected to. */
export interface UrlGuard {
  /**
   * Checks a URL and pins it to one resolved address, so that a second look-up cannot differ.
   * A name that does not resolve and a name with a private address are told apart by nobody.
   * @throws ApiError `RPC_URL_REFUSED` for what the text itself shows, `RPC_URL_UNREACHABLE` for
   *   names without a usable address
   */
  check(url: string): Promise<PinnedTarget>;
}

/** The guard between callers' URLs and the network the service stands in. */
export function createUrlGuard(options: UrlGuardOptions): UrlGuard {
  const allowedOrigins = new Set(options.allowedOrigins.map((origin) => new URL(origin).origin));
  const configuredUrls = new Set(options.configuredUrls.map((url) => new URL(url).href));
  const resolve = options.resolve ?? resolveWithSystem;
  const timeoutMs = options.resolveTimeoutMs ?? RESOLVE_TIMEOUT_MS;

  /** The one address to connect to; every address of the name must be fit. */
  async function choose(host: string, trusted: boolean): Promise<string> {
    const addresses = await withinTime(resolve(host), timeoutMs);
    const fit = addresses.every((one) => isIP(one) !== 0 && (trusted || isPublicAddress(one)));
    // IPv4 first: hosts without IPv6 routes are common, hosts without IPv4 are not.
    const chosen = addresses.find((one) => isIP(one) === 4) ?? addresses[0];
    if (chosen === undefined || !fit) throw new ApiError("RPC_URL_UNREACHABLE");
    return chosen;
  }

  return {
    async check(text) {
      const url = parseUrl(text);
      const trusted = allowedOrigins.has(url.origin) || configuredUrls.has(url.href);
      const host = url.hostname.replace(/^\[|\]$/g, "");
      if (!trusted) refuseByText(url, host);
      if (isIP(host) !== 0) return { url, address: undefined };
      const address = await choose(host, trusted);
      url.hostname = host.replace(/\.$/, "");
      return { url, address };
    },
  };
}

function parseUrl(text: string): URL {
  if (text.length > MAX_URL_LENGTH) refuse(`longer than ${MAX_URL_LENGTH} characters`);
  // Whitespace, backslashes and non-ASCII are where URL parsers disagree; no node needs them.
  if (!/^https?:\/\/[!-[\]-~]+$/i.test(text)) refuse("not a plain http(s) URL");
  const authority = text.slice(text.indexOf("//") + 2).split(/[/?#]/, 1)[0] ?? "";
  if (authority === "") refuse("it names no host");
  if (authority.includes("@")) refuse("credentials belong in the path or query of the node's URL");
  const url = URL.parse(text);
  if (!url) return refuse("not a valid URL");
  url.hash = "";
  return url;
}

/** Refuses what can be told without asking the resolver. */
function refuseByText(url: URL, host: string): void {
  if (url.protocol !== "https:") refuse("https is required");
  if (!PUBLIC_PORTS.has(url.port || "443")) refuse(`port ${url.port} is not one of a node`);
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) refuse("its address is not public");
    return;
  }
  const name = host.replace(/\.$/, "");
  if (!name.includes(".") || LOCAL_SUFFIXES.some((suffix) => name.endsWith(suffix))) {
    refuse("its host is not a public name");
  }
}

/** The resolver's answer, or none when it fails or takes too long. */
async function withinTime(
  answer: Promise<readonly string[]>,
  timeoutMs: number,
): Promise<readonly string[]> {
  let timer: Timer | undefined;
  const expired = new Promise<readonly string[]>((done) => {
    timer = setTimeout(done, timeoutMs, []);
  });
  const addresses = await Promise.race([answer.catch(() => []), expired]);
  clearTimeout(timer);
  return addresses;
}

async function resolveWithSystem(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

function refuse(reason: string): never {
  throw new ApiError("RPC_URL_REFUSED", `rpcUrl is not allowed: ${reason}`);
}
