import ipaddr from "ipaddr.js";
import { ConfigError } from "../config/index.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Block = [Address, number];

/** Hops of `X-Forwarded-For` that are read, from the nearest on. */
const MAX_FORWARDED_HOPS = 32;

/**
 * Reads addresses and CIDR blocks; a bare address is the block of itself.
 * @throws ConfigError naming the one that is neither
 */
export function parseBlocks(texts: readonly string[]): readonly Block[] {
  return texts.map((text) => {
    if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
    if (!ipaddr.isValid(text)) throw new ConfigError(`${text} is not an IP address or CIDR block`);
    const address = ipaddr.process(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  });
}

/** Whether an address lies in any of the blocks. IPv4 mapped into IPv6 counts as IPv4. */
export function isInBlocks(address: string | undefined, blocks: readonly Block[]): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return blocks.some(
    ([block, bits]) => parsed.kind() === block.kind() && parsed.match(block, bits),
  );
}

/** Whether a listener on this host can be reached from this machine only. */
export function isLoopbackHost(host: string): boolean {
  if (host === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}

/** What is known of where a request came from. */
export interface Origin {
  /** Address of the connection's other end; undefined when there is none. */
  readonly peer: string | undefined;
  readonly forwardedFor: string | null;
  readonly forwardedProto: string | null;
}

/** Whether the caller's own connection is encrypted, by the word of a trusted proxy. */
export function isForwardedHttps(origin: Origin, trustedProxies: readonly Block[]): boolean {
  // The nearest proxy appends last; what stands before came from further away.
  const proto = origin.forwardedProto?.split(",").at(-1)?.trim().toLowerCase();
  return proto === "https" && isInBlocks(origin.peer, trustedProxies);
}

/**
 * The caller's address: the connection's other end, or, when that is a trusted proxy, the nearest
 * address in `X-Forwarded-For` that is not one. What anyone else forwards is not believed.
 */
export function clientAddress(
  origin: Origin,
  trustedProxies: readonly Block[],
): string | undefined {
  if (origin.forwardedFor === null || !isInBlocks(origin.peer, trustedProxies)) return origin.peer;
  const hops = origin.forwardedFor.split(",").slice(-MAX_FORWARDED_HOPS).toReversed();
  let nearest = origin.peer;
  for (const hop of hops) {
    nearest = hop.trim();
    if (!isInBlocks(nearest, trustedProxies)) break;
  }
  return nearest;
}
