import { eq, sql } from "drizzle-orm";
import type { Peers } from "./peers.ts";
import { CONFIG_REVISION } from "./revisionNames.ts";
import { settings } from "./schema.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { UsageJournal } from "./usageJournal.ts";

/** On SQLite one process serves; beside it there is only the command line. */
export function createSqlitePeers({ orm }: SqliteConnection, journal: UsageJournal): Peers {
  const isRevision = eq(settings.name, CONFIG_REVISION);
  let configRevision = 0;
  const refresh = () => {
    configRevision = Number(orm.select().from(settings).where(isRevision).get()?.value ?? 0);
  };
  refresh();
  return {
    join: () => journal.takeOver(),
    refresh,
    standing: () => ({ rank: 0, count: 1 }),
    configRevision: () => configRevision,
    announceConfig() {
      orm
        .insert(settings)
        .values({ name: CONFIG_REVISION, value: "1" })
        .onConflictDoUpdate({
          target: settings.name,
          set: { value: sql`CAST(CAST(${settings.value} AS INTEGER) + 1 AS TEXT)` },
        })
        .run();
    },
    onChange() {},
  };
}
