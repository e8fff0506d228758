import type { UpstreamData } from "../config/index.ts";
import type { Accounts } from "./accounts.ts";
import type { BatchData } from "./batch.ts";
import type { Connect, Connection } from "./connection.ts";
import type { Pace } from "./limits.ts";
import { publicHost, secretsOf } from "./secrets.ts";
import { upstreamId } from "./upstreamId.ts";

/** One node of a chain, connected. */
export interface NodeLink {
  readonly id: string;
  readonly name: string;
  readonly connection: Connection;
  /** What of its URL must not appear in an answer. */
  readonly secrets: readonly Uint8Array[];
  /** Shared by the upstreams of one vendor account. */
  readonly pace: Pace;
  readonly maxConcurrent: number | undefined;
  readonly batch: BatchData | undefined;
}

/** Connects registry entries of one chain; names are hosts, numbered where several share one. */
export function linkNodes(
  chainId: number,
  entries: readonly UpstreamData[],
  accounts: Accounts,
  connect: Connect,
  taken: ReadonlySet<string> = new Set(),
): NodeLink[] {
  const names = new Set(taken);
  return entries.map((entry) => {
    const target = new URL(entry.url);
    const name = freeName(publicHost(target), names);
    names.add(name);
    return {
      id: upstreamId(chainId, entry.url),
      name,
      connection: connect(target),
      secrets: secretsOf(target),
      pace: accounts.paceOf(entry),
      maxConcurrent: entry.maxConcurrent,
      batch: entry.batch,
    };
  });
}

function freeName(host: string, taken: ReadonlySet<string>): string {
  if (!taken.has(host)) return host;
  let number = 2;
  while (taken.has(`${host}#${number}`)) number++;
  return `${host}#${number}`;
}
