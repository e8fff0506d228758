import ipaddr from "ipaddr.js";

/** Cloud metadata services on addresses that look public: Azure's wire server. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** The only IPv6 block from which global unicast addresses are given out (RFC 4291, IANA). */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Interface identifiers of ISATAP tunnels carry an IPv4 address behind these (RFC 5214 §6.1). */
const ISATAP_PARTS: ReadonlySet<string> = new Set(["0:5efe", "200:5efe"]);

/**
 * Whether an IP address belongs to the public internet. Loopback, private, link-local, shared,
 * multicast, reserved and documentation ranges do not, nor do IPv6 forms that carry an IPv4
 * address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP): they reach what the inner one reaches.
 * @param text - an address as the resolver or the URL parser writes it
 */
export function isPublicAddress(text: string): boolean {
  let address: ipaddr.IPv4 | ipaddr.IPv6;
  try {
    address = ipaddr.parse(text);
  } catch {
    return false;
  }
  if (address.range() !== "unicast" || METADATA_ADDRESSES.has(address.toString())) return false;
  if (address instanceof ipaddr.IPv4) return true;
  const [, , , , high = 0, low = 0] = address.parts;
  if (ISATAP_PARTS.has(`${high.toString(16)}:${low.toString(16)}`)) return false;
  return address.match(GLOBAL_UNICAST_V6);
}
