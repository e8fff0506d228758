import { eq, lt } from "drizzle-orm";
import type { Peers } from "../peers.ts";
import { CONFIG_REVISION } from "../revisionNames.ts";
import type { PostgresConnection } from "./connection.ts";
import type { Presence } from "./presence.ts";
import { bump, type Revisions } from "./revisions.ts";
import { allowanceShares, usageCommits } from "./schema.ts";

/** Numbers of groups that processes of the past committed are kept this long, ms. */
const KEEP_COMMITS_MS = 86_400_000;

/** The replicas on one Postgres database. */
export function createPeers(
  { orm, once }: PostgresConnection,
  presence: Presence,
  revisions: Revisions,
): Peers {
  return {
    join: () => once(() => presence.join()),
    async refresh() {
      await revisions.refresh();
      await presence.refresh();
    },
    standing() {
      const rank = presence.live.indexOf(presence.slot);
      return rank === -1
        ? { rank: 0, count: Math.max(1, presence.live.length) }
        : { rank, count: presence.live.length };
    },
    configRevision: () => revisions.get(CONFIG_REVISION),
    async announceConfig() {
      await once(() => bump(orm, CONFIG_REVISION));
      await revisions.changed();
    },
    onChange: (listener) => revisions.onChange(listener),
  };
}

/** What a dead replica left in the slot is no longer its own; nor are old numbers of groups. */
export async function forgetSlot({ orm }: PostgresConnection, slot: number): Promise<void> {
  await orm.delete(allowanceShares).where(eq(allowanceShares.slot, slot));
  await orm.delete(usageCommits).where(lt(usageCommits.at, Date.now() - KEEP_COMMITS_MS));
}
