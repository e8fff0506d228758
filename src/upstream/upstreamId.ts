import { createHash } from "node:crypto";

/** Stable name of a chain's upstream, from which its URL cannot be told. */
export function upstreamId(chainId: number, url: string): string {
  const { href } = new URL(url);
  return createHash("sha256").update(`${chainId} ${href}`).digest("hex").slice(0, 12);
}
