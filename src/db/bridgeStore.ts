import { and, asc, desc, eq, gte, inArray, lte, ne, sql } from "drizzle-orm";
import {
  bridgeEvents,
  bridgeIdempotency,
  bridgeNonces,
  bridgeTransactions,
  bridgeTransfers,
  leases,
} from "./bridgeSchema.ts";
import type {
  BridgeStore,
  NewTransfer,
  StoredTransaction,
  StoredTransfer,
  TransferChanges,
} from "./bridgeTypes.ts";
import type { SqliteConnection } from "./sqlite.ts";

type Transaction = Parameters<Parameters<SqliteConnection["orm"]["transaction"]>[0]>[0];
type Row = typeof bridgeTransfers.$inferSelect;

/**
 * Transfers in SQLite. Every write that depends on a read takes the write lock first, and is on the
 * disk when it returns: what is sent afterwards must be known after a power cut too.
 */
export function createBridgeStore({ orm, client }: SqliteConnection): BridgeStore {
  const atomically = <Value>(run: (tx: Transaction) => Value) => {
    client.run("PRAGMA synchronous = FULL");
    try {
      return orm.transaction(run, { behavior: "immediate" });
    } finally {
      client.run("PRAGMA synchronous = NORMAL");
    }
  };
  const find = (id: string) => {
    const row = orm.select().from(bridgeTransfers).where(eq(bridgeTransfers.id, id)).get();
    return row && fromRow(row);
  };

  return {
    find,
    create: (input) => atomically((tx) => create(tx, input)),
    findByHash(hash) {
      const sent = orm
        .select({ id: bridgeTransactions.transferId })
        .from(bridgeTransactions)
        .where(eq(bridgeTransactions.hash, hash))
        .get();
      return sent && find(sent.id);
    },
    findByIdempotencyKey: (keyId, key) =>
      orm.select().from(bridgeIdempotency).where(isIdempotency(keyId, key)).get(),
    releaseIdempotencyKey(transferId) {
      orm.delete(bridgeIdempotency).where(eq(bridgeIdempotency.transferId, transferId)).run();
    },
    apply: (step) =>
      atomically((tx) => {
        const { id, from, to, at } = step;
        if (step.unlessReserved && hasNonces(tx, id)) return false;
        if (step.replacing !== undefined && !isNewest(tx, id, step.replacing)) return false;
        const moved = from === to ? {} : { state: to, stateAt: at, checks: 0 };
        const updated = tx
          .update(bridgeTransfers)
          .set({ ...moved, ...toColumns(step.changes), updatedAt: at })
          .where(and(eq(bridgeTransfers.id, id), eq(bridgeTransfers.state, from)))
          .returning({ id: bridgeTransfers.id })
          .all();
        if (updated.length === 0) return false;
        for (const transaction of step.transactions ?? []) insertTransaction(tx, transaction);
        tx.insert(bridgeEvents)
          .values({
            transferId: id,
            at,
            fromState: from,
            toState: to,
            event: step.event,
            detail: step.detail,
          })
          .run();
        return true;
      }),
    note(id, changes, at) {
      orm
        .update(bridgeTransfers)
        .set({ ...toColumns(changes), updatedAt: at })
        .where(eq(bridgeTransfers.id, id))
        .run();
    },
    reserveNonces: (request) => atomically((tx) => reserveNonces(tx, request)),
    spendNonces(transferId, chainId, nonces) {
      orm
        .update(bridgeNonces)
        .set({ spent: true })
        .where(
          and(
            eq(bridgeNonces.transferId, transferId),
            eq(bridgeNonces.chainId, chainId),
            inArray(bridgeNonces.nonce, [...nonces]),
          ),
        )
        .run();
    },
    addTransaction: (transaction, entry) =>
      atomically((tx) => {
        insertTransaction(tx, transaction);
        tx.insert(bridgeEvents).values(entry).run();
      }),
    transactions: (transferId) =>
      orm
        .select()
        .from(bridgeTransactions)
        .where(eq(bridgeTransactions.transferId, transferId))
        .orderBy(asc(bridgeTransactions.createdAt), asc(sql`rowid`))
        .all()
        .map(fromTransactionRow),
    due: (states, now, limit) =>
      orm
        .select()
        .from(bridgeTransfers)
        .where(
          and(inArray(bridgeTransfers.state, [...states]), lte(bridgeTransfers.nextCheckAt, now)),
        )
        .orderBy(asc(bridgeTransfers.nextCheckAt))
        .limit(limit)
        .all()
        .map(fromRow),
    outstanding: (fromChainId, states) =>
      sumReserved(
        orm
          .select({ sum: reservedSum })
          .from(bridgeTransfers)
          .where(
            and(
              eq(bridgeTransfers.fromChainId, fromChainId),
              inArray(bridgeTransfers.state, [...states]),
            ),
          )
          .get(),
      ),
    list: ({ state, limit }) =>
      orm
        .select()
        .from(bridgeTransfers)
        .where(state === undefined ? undefined : eq(bridgeTransfers.state, state))
        .orderBy(desc(bridgeTransfers.createdAt), desc(sql`rowid`))
        .limit(limit)
        .all()
        .map(fromRow),
    events: (transferId) =>
      orm
        .select()
        .from(bridgeEvents)
        .where(eq(bridgeEvents.transferId, transferId))
        .orderBy(asc(bridgeEvents.id))
        .all(),
    counts: () =>
      orm
        .select({ state: bridgeTransfers.state, count: sql<number>`count(*)` })
        .from(bridgeTransfers)
        .groupBy(bridgeTransfers.state)
        .all(),
    acquireLease: (name, owner, now, durationMs) =>
      orm
        .insert(leases)
        .values({ name, owner, until: now + durationMs })
        .onConflictDoUpdate({
          target: leases.name,
          set: { owner, until: now + durationMs },
          setWhere: sql`${leases.owner} = ${owner} or ${leases.until} <= ${now}`,
        })
        .returning({ name: leases.name })
        .all().length > 0,
    releaseLease(name, owner) {
      orm
        .delete(leases)
        .where(and(eq(leases.name, name), eq(leases.owner, owner)))
        .run();
    },
  };
}

/** SQLite adds integers up to 2^63, far above all USDC there is. */
const reservedSum = sql<string>`CAST(coalesce(sum(CAST(${bridgeTransfers.amount} AS INTEGER) + CAST(${bridgeTransfers.maxFee} AS INTEGER)), 0) AS TEXT)`;

function create(tx: Transaction, { transfer, idempotency, limits }: NewTransfer) {
  if (idempotency) {
    const known = tx
      .select()
      .from(bridgeIdempotency)
      .where(isIdempotency(transfer.keyId, idempotency.key))
      .get();
    if (known) {
      return { kind: "known", transferId: known.transferId, bodyHash: known.bodyHash } as const;
    }
  }
  const today = and(
    gte(bridgeTransfers.createdAt, limits.daySince),
    ne(bridgeTransfers.state, "failed"),
  );
  const reserved = (where: typeof today) =>
    sumReserved(tx.select({ sum: reservedSum }).from(bridgeTransfers).where(where).get());
  const wanted = transfer.amount + transfer.maxFee;
  const ofKey = and(today, eq(bridgeTransfers.keyId, transfer.keyId));
  if (reserved(ofKey) + wanted > limits.perKeyAndDay) {
    return { kind: "limit", which: "perKeyAndDay" } as const;
  }
  if (reserved(today) + wanted > limits.perDay) return { kind: "limit", which: "perDay" } as const;

  tx.insert(bridgeTransfers).values(toRow(transfer)).run();
  if (idempotency) {
    tx.insert(bridgeIdempotency)
      .values({
        keyId: transfer.keyId,
        idempotencyKey: idempotency.key,
        bodyHash: idempotency.bodyHash,
        transferId: transfer.id,
      })
      .run();
  }
  tx.insert(bridgeEvents)
    .values({
      transferId: transfer.id,
      at: transfer.createdAt,
      fromState: null,
      toState: transfer.state,
      event: "created",
      detail: { keyId: transfer.keyId, burn: String(wanted) },
    })
    .run();
  return { kind: "created" } as const;
}

function reserveNonces(
  tx: Transaction,
  request: Parameters<BridgeStore["reserveNonces"]>[0],
): readonly number[] {
  const { chainId, signer, transferId, purposes, floor } = request;
  const mine = tx
    .select()
    .from(bridgeNonces)
    .where(
      and(
        eq(bridgeNonces.transferId, transferId),
        eq(bridgeNonces.chainId, chainId),
        eq(bridgeNonces.spent, false),
        inArray(bridgeNonces.purpose, [...purposes]),
      ),
    )
    .orderBy(asc(bridgeNonces.nonce))
    .all();
  if (mine.length === purposes.length) return mine.map(({ nonce }) => nonce);
  const state = tx
    .select({ state: bridgeTransfers.state })
    .from(bridgeTransfers)
    .where(eq(bridgeTransfers.id, transferId))
    .get()?.state;
  if (state === undefined || state === "failed") throw new Error("the transfer has failed");

  const last = tx
    .select({ nonce: sql<number | null>`max(${bridgeNonces.nonce})` })
    .from(bridgeNonces)
    .where(and(eq(bridgeNonces.chainId, chainId), eq(bridgeNonces.signer, signer)))
    .get();
  const first = Math.max(floor, (last?.nonce ?? -1) + 1);
  return purposes.map((purpose, index) => {
    const nonce = first + index;
    tx.insert(bridgeNonces)
      .values({ chainId, signer, nonce, transferId, purpose, spent: false })
      .run();
    return nonce;
  });
}

/** Whether no transaction of the same transfer and purpose was stored after this one. */
function isNewest(tx: Transaction, transferId: string, hash: string): boolean {
  const stored = tx
    .select({ hash: bridgeTransactions.hash, purpose: bridgeTransactions.purpose })
    .from(bridgeTransactions)
    .where(eq(bridgeTransactions.transferId, transferId))
    .orderBy(asc(bridgeTransactions.createdAt), asc(sql`rowid`))
    .all();
  const purpose = stored.find((each) => each.hash === hash)?.purpose;
  return stored.findLast((each) => each.purpose === purpose)?.hash === hash;
}

function hasNonces(tx: Transaction, transferId: string): boolean {
  const one = tx
    .select({ nonce: bridgeNonces.nonce })
    .from(bridgeNonces)
    .where(eq(bridgeNonces.transferId, transferId))
    .get();
  return one !== undefined;
}

function insertTransaction(tx: Transaction, transaction: StoredTransaction): void {
  const { maxFeePerGas, maxPriorityFeePerGas, ...rest } = transaction;
  tx.insert(bridgeTransactions)
    .values({
      ...rest,
      maxFeePerGas: maxFeePerGas?.toString() ?? null,
      maxPriorityFeePerGas: maxPriorityFeePerGas?.toString() ?? null,
    })
    .run();
}

function isIdempotency(keyId: string, key: string) {
  return and(eq(bridgeIdempotency.keyId, keyId), eq(bridgeIdempotency.idempotencyKey, key));
}

function sumReserved(row: { sum: string } | undefined): bigint {
  return BigInt(row?.sum ?? "0");
}

function toAmount(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}

function fromRow(row: Row): StoredTransfer {
  return {
    ...row,
    amount: BigInt(row.amount),
    maxFee: BigInt(row.maxFee),
    feeExecuted: toAmount(row.feeExecuted),
  };
}

function fromTransactionRow(row: typeof bridgeTransactions.$inferSelect): StoredTransaction {
  return {
    ...row,
    maxFeePerGas: toAmount(row.maxFeePerGas),
    maxPriorityFeePerGas: toAmount(row.maxPriorityFeePerGas),
  };
}

function toRow(transfer: StoredTransfer): Row {
  return {
    ...transfer,
    amount: transfer.amount.toString(),
    maxFee: transfer.maxFee.toString(),
    feeExecuted: transfer.feeExecuted?.toString() ?? null,
  };
}

function toColumns({ feeExecuted, ...changes }: TransferChanges): Partial<Row> {
  return feeExecuted === undefined
    ? changes
    : { ...changes, feeExecuted: feeExecuted?.toString() ?? null };
}
