import { and, asc, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";
import type { UsageRow, UsageStore } from "../types.ts";
import { createAllotments } from "./allotments.ts";
import type { PostgresConnection } from "./connection.ts";
import type { Presence } from "./presence.ts";
import { usage } from "./schema.ts";

/**
 * Adds a group of charges in one statement, which is one commit. A group is numbered, and one that
 * was added before is passed over: after a broken connection the same group is simply sent again.
 */
const ADD = `
  WITH fresh AS (
    INSERT INTO usage_commits (process, seq, at) VALUES ($1, $2, $3)
    ON CONFLICT (process) DO UPDATE SET seq = excluded.seq, at = excluded.at
      WHERE usage_commits.seq < excluded.seq
    RETURNING seq
  )
  INSERT INTO usage (key_id, hour, operation, chain_id, slot, requests, cu)
  SELECT key_id, hour, operation, chain_id, $4, requests, cu
  FROM jsonb_to_recordset($5::text::jsonb) AS added(
    key_id text, hour bigint, operation text, chain_id bigint, requests bigint, cu bigint)
  WHERE EXISTS (SELECT FROM fresh)
  ON CONFLICT (key_id, hour, operation, chain_id, slot) DO UPDATE
    SET requests = usage.requests + excluded.requests, cu = usage.cu + excluded.cu`;

/** The ledger in Postgres. */
export function createUsageStore(connection: PostgresConnection, presence: Presence): UsageStore {
  const { client, orm, repeatable } = connection;
  const process = crypto.randomUUID();
  let seq = 0;
  let last: Promise<unknown> = Promise.resolve();
  const requests = sql`sum(${usage.requests})`.mapWith(Number);
  const cu = sql`sum(${usage.cu})`.mapWith(Number);

  return {
    ...createAllotments(connection, presence),
    // One after the other, so that a group is never passed over for one with a higher number.
    add(rows) {
      const added = JSON.stringify(Array.from(rows, toColumns));
      const adding = last.then(() => {
        const number = ++seq;
        return repeatable(async () => {
          await client.unsafe(ADD, [process, number, Date.now(), presence.slot, added]);
        });
      });
      last = adding.catch(() => undefined);
      return adding;
    },
    totalCu: (keyId, fromHour, toHour) =>
      repeatable(async () => {
        const [row] = await orm
          .select({ cu: sql`coalesce(sum(${usage.cu}), 0)`.mapWith(Number) })
          .from(usage)
          .where(span([keyId], fromHour, toHour));
        return row?.cu ?? 0;
      }),
    sums: (keyId, fromHour, toHour) =>
      repeatable(() =>
        orm
          .select({ operation: usage.operation, chainId: usage.chainId, requests, cu })
          .from(usage)
          .where(span([keyId], fromHour, toHour))
          .groupBy(usage.operation, usage.chainId)
          .orderBy(desc(cu), usage.operation, usage.chainId),
      ),
    hourly: (keyIds, fromHour, toHour) =>
      repeatable(() =>
        orm
          .select({ hour: usage.hour, operation: usage.operation, requests, cu })
          .from(usage)
          .where(span(keyIds, fromHour, toHour))
          .groupBy(usage.hour, usage.operation)
          .orderBy(asc(usage.hour), asc(usage.operation)),
      ),
  };
}

function toColumns({ keyId, chainId, ...rest }: UsageRow) {
  return { ...rest, key_id: keyId, chain_id: chainId };
}

function span(keyIds: readonly string[], fromHour: number, toHour: number) {
  const [keyId] = keyIds;
  const isWanted =
    keyIds.length === 1 && keyId !== undefined
      ? eq(usage.keyId, keyId)
      : inArray(usage.keyId, [...keyIds]);
  return and(isWanted, gte(usage.hour, fromHour), lt(usage.hour, toHour));
}
