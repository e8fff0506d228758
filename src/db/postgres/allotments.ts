import { and, eq, gte, lt, sql } from "drizzle-orm";
import type { UsageStore } from "../types.ts";
import type { PostgresConnection } from "./connection.ts";
import type { Presence } from "./presence.ts";
import { allowanceShares, usage } from "./schema.ts";

/** Namespace of the locks that keep two replicas from sharing out one key's allowance at once. */
const ALLOTMENT_LOCKS = 0x4341_5503;
/** A replica is given this part of what is free, so that each finds some for a while. */
const PART_OF_FREE = 8;

/**
 * Shares of keys' allowances. What is charged and what live replicas may still charge never exceeds
 * the allowance together; what a dead replica had not used is free again.
 */
export function createAllotments(
  { transaction }: PostgresConnection,
  presence: Presence,
): Pick<UsageStore, "allot" | "allotmentEpoch"> {
  return {
    allotmentEpoch: () => presence.epoch,
    async allot({ keyId, fromHour, toHour, allowanceCu, ownCu, wantedCu }) {
      await presence.refresh();
      const { slot: ownSlot, live } = presence;
      return transaction(async (tx) => {
        await tx.execute(sql`SELECT pg_advisory_xact_lock(${ALLOTMENT_LOCKS}, hashtext(${keyId}))`);
        const used = await tx
          .select({ slot: usage.slot, cu: sql`sum(${usage.cu})`.mapWith(Number) })
          .from(usage)
          .where(and(eq(usage.keyId, keyId), gte(usage.hour, fromHour), lt(usage.hour, toHour)))
          .groupBy(usage.slot);
        const isMonth = and(
          eq(allowanceShares.keyId, keyId),
          eq(allowanceShares.fromHour, fromHour),
        );
        const shares = await tx.select().from(allowanceShares).where(isMonth);

        const usedBySlot = new Map(used.map(({ slot, cu }) => [slot, cu]));
        const spentCu = usedBySlot.get(ownSlot) ?? 0;
        const baseCu = Math.max(spentCu, ownCu);
        const bySlot = new Map(usedBySlot);
        for (const { slot, ceilingCu } of shares) {
          if (live.includes(slot)) bySlot.set(slot, Math.max(bySlot.get(slot) ?? 0, ceilingCu));
        }
        bySlot.set(ownSlot, baseCu);
        const freeCu = allowanceCu - sum(bySlot.values());
        const isEnough = wantedCu > 0 && freeCu >= wantedCu;
        const ceilingCu = baseCu + (isEnough ? partOf(freeCu, wantedCu) : 0);
        await tx
          .insert(allowanceShares)
          .values({ keyId, fromHour, slot: ownSlot, ceilingCu })
          .onConflictDoUpdate({
            target: [allowanceShares.keyId, allowanceShares.fromHour, allowanceShares.slot],
            set: { ceilingCu },
          });
        return { spentCu, ceilingCu };
      });
    },
  };
}

function partOf(freeCu: number, wantedCu: number): number {
  return Math.max(wantedCu, Math.floor(freeCu / PART_OF_FREE));
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
