import ipaddr from "ipaddr.js";
import { ConfigError } from "../config/index.ts";
import type { RequestHead } from "./head.ts";

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
    if (!isBlock(text)) throw new ConfigError(`${text} is not an IP address or CIDR block`);
    const [address, bits] = text.includes("/") ? ipaddr.parseCIDR(text) : wholeAddress(text);
    const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress();
    return isMapped && bits >= 96 ? [address.toIPv4Address(), bits - 96] : [address, bits];
  });
}

/**
 * Whether a text is an IPv4 or IPv6 address or CIDR block in its usual form. Short and octal forms
 * (`127.1`, `010.0.0.1`) mean different addresses to different programs, so they are none.
 */
export function isBlock(text: string): boolean {
  const address = text.split("/", 1)[0] ?? "";
  const isUsual = address.includes(":") || ipaddr.IPv4.isValidFourPartDecimal(address);
  return isUsual && (text.includes("/") ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text));
}

function wholeAddress(text: string): Block {
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
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

/** Where a request came from. @param peer - address of the connection's other end */
export function originOf(head: Pick<RequestHead, "get">, peer: string | undefined): Origin {
  return {
    peer,
    forwardedFor: head.get("x-forwarded-for"),
    forwardedProto: head.get("x-forwarded-proto"),
  };
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
