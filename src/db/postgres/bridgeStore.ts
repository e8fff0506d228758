import { and, asc, desc, eq, gte, inArray, lte, max, ne, sql } from "drizzle-orm";
import type { BridgeStore, NewTransfer, StoredTransfer } from "../bridgeTypes.ts";
import type { PostgresConnection, Transaction } from "./connection.ts";
import type { Presence } from "./presence.ts";
import {
  bridgeEvents,
  bridgeIdempotency,
  bridgeNonces,
  bridgeTransactions,
  bridgeTransfers,
} from "./schema.ts";

/** Lock of writes that depend on what was read: limits, nonces, the newest transaction. */
const BRIDGE_LOCK = 0x4341_5504;

/** Transfers in Postgres. A write is on the disk when it returns. */
export function createBridgeStore(connection: PostgresConnection, presence: Presence): BridgeStore {
  const { orm, once, repeatable, transaction } = connection;
  const atomically = <Value>(run: (tx: Transaction) => Promise<Value>) =>
    transaction(async (tx) => {
      await tx.execute(sql`SELECT pg_advisory_xact_lock(${BRIDGE_LOCK})`);
      return run(tx);
    });
  const find = async (id: string) => {
    const [row] = await orm.select().from(bridgeTransfers).where(eq(bridgeTransfers.id, id));
    return row && fromRow(row);
  };

  return {
    find: (id) => repeatable(() => find(id)),
    create: (input) => atomically((tx) => create(tx, input)),
    findByHash: (hash) =>
      repeatable(async () => {
        const [sent] = await orm
          .select({ id: bridgeTransactions.transferId })
          .from(bridgeTransactions)
          .where(eq(bridgeTransactions.hash, hash));
        return sent && find(sent.id);
      }),
    findByIdempotencyKey: (keyId, key) =>
      repeatable(
        async () =>
          (await orm.select().from(bridgeIdempotency).where(isIdempotency(keyId, key)))[0],
      ),
    releaseIdempotencyKey: (transferId) =>
      repeatable(async () => {
        const isOf = eq(bridgeIdempotency.transferId, transferId);
        await orm.delete(bridgeIdempotency).where(isOf);
      }),
    apply: (step) =>
      atomically(async (tx) => {
        const { id, from, to, at } = step;
        if (step.unlessReserved && (await hasNonces(tx, id))) return false;
        if (step.replacing !== undefined && !(await isNewest(tx, id, step.replacing))) return false;
        const moved = from === to ? {} : { state: to, stateAt: at, checks: 0 };
        const updated = await tx
          .update(bridgeTransfers)
          .set({ ...moved, ...step.changes, updatedAt: at })
          .where(and(eq(bridgeTransfers.id, id), eq(bridgeTransfers.state, from)))
          .returning({ id: bridgeTransfers.id });
        if (updated.length === 0) return false;
        for (const signed of step.transactions ?? []) {
          await tx.insert(bridgeTransactions).values(signed);
        }
        await tx.insert(bridgeEvents).values({
          transferId: id,
          at,
          fromState: from,
          toState: to,
          event: step.event,
          detail: step.detail,
        });
        return true;
      }),
    note: (id, changes, at) =>
      repeatable(async () => {
        await orm
          .update(bridgeTransfers)
          .set({ ...changes, updatedAt: at })
          .where(eq(bridgeTransfers.id, id));
      }),
    reserveNonces: (request) => atomically((tx) => reserveNonces(tx, request)),
    spendNonces: (transferId, chainId, nonces) =>
      repeatable(async () => {
        await orm
          .update(bridgeNonces)
          .set({ spent: true })
          .where(
            and(
              eq(bridgeNonces.transferId, transferId),
              eq(bridgeNonces.chainId, chainId),
              inArray(bridgeNonces.nonce, [...nonces]),
            ),
          );
      }),
    addTransaction: (signed, entry) =>
      atomically(async (tx) => {
        await tx.insert(bridgeTransactions).values(signed);
        await tx.insert(bridgeEvents).values(entry);
      }),
    transactions: (transferId) =>
      repeatable(async () => {
        const rows = await orm
          .select()
          .from(bridgeTransactions)
          .where(eq(bridgeTransactions.transferId, transferId))
          .orderBy(...oldestFirst);
        return rows.map(({ seq: _seq, ...stored }) => stored);
      }),
    due: (states, now, limit) =>
      repeatable(async () => {
        const isDue = lte(bridgeTransfers.nextCheckAt, now);
        const rows = await orm
          .select()
          .from(bridgeTransfers)
          .where(and(inArray(bridgeTransfers.state, [...states]), isDue))
          .orderBy(asc(bridgeTransfers.nextCheckAt))
          .limit(limit);
        return rows.map(fromRow);
      }),
    outstanding: (fromChainId, states) =>
      repeatable(async () => {
        const isFrom = eq(bridgeTransfers.fromChainId, fromChainId);
        const [row] = await orm
          .select({ sum: reservedSum })
          .from(bridgeTransfers)
          .where(and(isFrom, inArray(bridgeTransfers.state, [...states])));
        return row?.sum ?? 0n;
      }),
    list: ({ state, limit }) =>
      repeatable(async () => {
        const rows = await orm
          .select()
          .from(bridgeTransfers)
          .where(state === undefined ? undefined : eq(bridgeTransfers.state, state))
          .orderBy(desc(bridgeTransfers.createdAt), desc(bridgeTransfers.seq))
          .limit(limit);
        return rows.map(fromRow);
      }),
    events: (transferId) =>
      repeatable(() =>
        orm
          .select()
          .from(bridgeEvents)
          .where(eq(bridgeEvents.transferId, transferId))
          .orderBy(asc(bridgeEvents.id)),
      ),
    counts: () =>
      repeatable(() =>
        orm
          .select({ state: bridgeTransfers.state, count: sql`count(*)`.mapWith(Number) })
          .from(bridgeTransfers)
          .groupBy(bridgeTransfers.state),
      ),
    // The lock ends with the process, so it needs neither an owner nor a time.
    acquireLease: (name) => presence.hold(name),
    releaseLease: (name) => once(() => presence.release(name)),
  };
}

const oldestFirst = [asc(bridgeTransactions.createdAt), asc(bridgeTransactions.seq)];
const reservedSum =
  sql<string>`coalesce(sum(${bridgeTransfers.amount}::numeric + ${bridgeTransfers.maxFee}::numeric), 0)::text`.mapWith(
    BigInt,
  );

async function create(tx: Transaction, { transfer, idempotency, limits }: NewTransfer) {
  if (idempotency) {
    const isKnown = isIdempotency(transfer.keyId, idempotency.key);
    const [known] = await tx.select().from(bridgeIdempotency).where(isKnown);
    if (known) {
      return { kind: "known", transferId: known.transferId, bodyHash: known.bodyHash } as const;
    }
  }
  const today = and(
    gte(bridgeTransfers.createdAt, limits.daySince),
    ne(bridgeTransfers.state, "failed"),
  );
  const reserved = async (where: typeof today) => {
    const [row] = await tx.select({ sum: reservedSum }).from(bridgeTransfers).where(where);
    return row?.sum ?? 0n;
  };
  const wanted = transfer.amount + transfer.maxFee;
  const ofKey = and(today, eq(bridgeTransfers.keyId, transfer.keyId));
  if ((await reserved(ofKey)) + wanted > limits.perKeyAndDay) {
    return { kind: "limit", which: "perKeyAndDay" } as const;
  }
  if ((await reserved(today)) + wanted > limits.perDay) {
    return { kind: "limit", which: "perDay" } as const;
  }

  await tx.insert(bridgeTransfers).values(transfer);
  if (idempotency) {
    await tx.insert(bridgeIdempotency).values({
      keyId: transfer.keyId,
      idempotencyKey: idempotency.key,
      bodyHash: idempotency.bodyHash,
      transferId: transfer.id,
    });
  }
  await tx.insert(bridgeEvents).values({
    transferId: transfer.id,
    at: transfer.createdAt,
    fromState: null,
    toState: transfer.state,
    event: "created",
    detail: { keyId: transfer.keyId, burn: String(wanted) },
  });
  return { kind: "created" } as const;
}

async function reserveNonces(
  tx: Transaction,
  request: Parameters<BridgeStore["reserveNonces"]>[0],
): Promise<readonly number[]> {
  const { chainId, signer, transferId, purposes, floor } = request;
  const mine = await tx
    .select({ nonce: bridgeNonces.nonce })
    .from(bridgeNonces)
    .where(
      and(
        eq(bridgeNonces.transferId, transferId),
        eq(bridgeNonces.chainId, chainId),
        eq(bridgeNonces.spent, false),
        inArray(bridgeNonces.purpose, [...purposes]),
      ),
    )
    .orderBy(asc(bridgeNonces.nonce));
  if (mine.length === purposes.length) return mine.map(({ nonce }) => nonce);
  const [transfer] = await tx
    .select({ state: bridgeTransfers.state })
    .from(bridgeTransfers)
    .where(eq(bridgeTransfers.id, transferId));
  if (!transfer || transfer.state === "failed") throw new Error("the transfer has failed");

  const [last] = await tx
    .select({ nonce: max(bridgeNonces.nonce) })
    .from(bridgeNonces)
    .where(and(eq(bridgeNonces.chainId, chainId), eq(bridgeNonces.signer, signer)));
  const first = Math.max(floor, (last?.nonce ?? -1) + 1);
  const given = purposes.map((purpose, index) => ({
    chainId,
    signer,
    nonce: first + index,
    transferId,
    purpose,
    spent: false,
  }));
  await tx.insert(bridgeNonces).values(given);
  return given.map(({ nonce }) => nonce);
}

/** Whether no transaction of the same transfer and purpose was stored after this one. */
async function isNewest(tx: Transaction, transferId: string, hash: string): Promise<boolean> {
  const stored = await tx
    .select({ hash: bridgeTransactions.hash, purpose: bridgeTransactions.purpose })
    .from(bridgeTransactions)
    .where(eq(bridgeTransactions.transferId, transferId))
    .orderBy(...oldestFirst);
  const purpose = stored.find((each) => each.hash === hash)?.purpose;
  return stored.findLast((each) => each.purpose === purpose)?.hash === hash;
}

async function hasNonces(tx: Transaction, transferId: string): Promise<boolean> {
  const rows = await tx
    .select({ nonce: bridgeNonces.nonce })
    .from(bridgeNonces)
    .where(eq(bridgeNonces.transferId, transferId))
    .limit(1);
  return rows.length > 0;
}

function isIdempotency(keyId: string, key: string) {
  return and(eq(bridgeIdempotency.keyId, keyId), eq(bridgeIdempotency.idempotencyKey, key));
}

function fromRow({ seq: _seq, ...transfer }: typeof bridgeTransfers.$inferSelect): StoredTransfer {
  return transfer;
}
