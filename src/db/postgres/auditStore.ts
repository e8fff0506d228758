import { desc, lt } from "drizzle-orm";
import type { AuditStore } from "../types.ts";
import type { PostgresConnection } from "./connection.ts";
import { audit } from "./schema.ts";

/** The audit log in Postgres; triggers keep it append-only. */
export function createAuditStore({ orm, once, repeatable }: PostgresConnection): AuditStore {
  return {
    append: (entry) => once(async () => void (await orm.insert(audit).values(entry))),
    list: ({ limit, beforeId }) =>
      repeatable(() =>
        orm
          .select()
          .from(audit)
          .where(beforeId === undefined ? undefined : lt(audit.id, beforeId))
          .orderBy(desc(audit.id))
          .limit(limit),
      ),
  };
}
