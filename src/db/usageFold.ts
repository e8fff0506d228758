import type { PendingPart } from "./pendingSums.ts";
import type { SqliteConnection } from "./sqlite.ts";
import { createUsageJournal, type UsageJournal } from "./usageJournal.ts";

type Connection = Pick<SqliteConnection, "client">;

/** How long charges gather before they are brought into the ledger. */
const FOLD_AFTER_MS = 5_000;
/** Rows that gather before they are brought into the ledger sooner. */
const MAX_GATHERED = 100_000;
/** Rows of one step, some more where keys have several; a step takes about 1 ms. */
const ROWS_PER_STEP = 200;
/** Time for answers between two steps. */
const PAUSE_MS = 3;
/** Sorts behind every text. */
const END = new Uint8Array(0);

const KEYS_OF_STEP = "generation = $generation AND key_id > $from AND key_id <= $to";
const FOLD = `
  INSERT INTO usage (key_id, hour, operation, chain_id, requests, cu)
  SELECT key_id, hour, operation, chain_id, requests, cu
  FROM temp.usage_pending WHERE ${KEYS_OF_STEP}
  ORDER BY key_id, hour, operation, chain_id
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, cu = cu + excluded.cu`;
const NOTE_USES = `
  INSERT INTO key_last_used (key_id, at)
  SELECT key_id, max(at) FROM temp.usage_pending WHERE ${KEYS_OF_STEP} AND at > 0
  GROUP BY key_id
  ON CONFLICT DO UPDATE SET at = max(at, excluded.at)`;

/** Brings charges from the journal into the ledger. */
export interface UsageFold {
  /** To be told after each commit of charges. */
  appended(): void;
  /** Brings in some. */
  takeStep(): void;
  /** Brings in all there are. */
  finish(): void;
  /** Stops, and brings in what it can. */
  stop(): void;
}

/**
 * Brings what is in journals into the ledger, for who reads the ledger's own table.
 * @returns false when a living process has charges that it alone may bring there
 */
export function settleLedger(connection: Connection): boolean {
  const journal = createUsageJournal(connection);
  try {
    journal.takeOver();
    createUsageFold(connection, journal).finish();
    return !journal.isShared();
  } finally {
    journal.close();
  }
}

/**
 * Folds the journal into the ledger, and notes when keys were used, in steps that each leave both in
 * agreement: a step's rows and the note of how far folding has come are one commit.
 */
export function createUsageFold({ client }: Connection, journal: UsageJournal): UsageFold {
  const lastKey = client.query<{ key: string }, { generation: number; from: string }>(`
    SELECT key_id AS key FROM temp.usage_pending WHERE generation = $generation AND key_id > $from
    ORDER BY key_id LIMIT 1 OFFSET ${ROWS_PER_STEP - 1}`);
  const fold = client.query(FOLD);
  const noteUses = client.query(NOTE_USES);
  const forget = client.query(`DELETE FROM temp.usage_pending WHERE ${KEYS_OF_STEP}`);
  const noteStep = client.query<null, { name: string; foldedTo: string }>(
    "UPDATE charge_files SET folded_to = $foldedTo WHERE name = $name",
  );
  const noteEnd = client.query<null, [string]>("DELETE FROM charge_files WHERE name = ?");

  /** @returns what is left */
  const step = client.transaction((part: PendingPart): PendingPart | undefined => {
    const { generation, name, foldedTo: from } = part;
    const key = lastKey.get({ generation, from })?.key;
    const keys = { generation, from, to: key ?? END };
    fold.run(keys);
    noteUses.run(keys);
    forget.run(keys);
    if (key === undefined) {
      noteEnd.run(name);
      return undefined;
    }
    noteStep.run({ name, foldedTo: key });
    return { ...part, foldedTo: key };
  });
  const takeStep = () => {
    const part = journal.sealed ?? journal.seal();
    if (part) journal.advance(step.immediate(part));
  };

  let timer: Timer | undefined;
  let isUrgent = false;
  const schedule = (delayMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(run, delayMs);
    timer.unref();
  };
  /** @returns whether it could be taken: the database may be busy, or full */
  const tryStep = (): boolean => {
    try {
      takeStep();
      return true;
    } catch {
      // Whoever charges is told of it; what is not in the ledger yet stays in the journal.
      return false;
    }
  };
  const run = () => {
    timer = undefined;
    if (!tryStep()) return schedule(FOLD_AFTER_MS);
    isUrgent = false;
    if (journal.sealed) schedule(PAUSE_MS);
    else if (journal.gathered > 0) schedule(FOLD_AFTER_MS);
  };

  return {
    takeStep,
    appended() {
      // Where steps fall behind, those who charge take them, so that the journal stays bounded.
      if (journal.gathered > 2 * MAX_GATHERED) tryStep();
      if (timer === undefined) schedule(FOLD_AFTER_MS);
      if (journal.gathered < MAX_GATHERED || journal.sealed || isUrgent) return;
      isUrgent = true;
      schedule(0);
    },
    finish() {
      do takeStep();
      while (journal.sealed || journal.gathered > 0);
    },
    stop() {
      clearTimeout(timer);
      while ((journal.sealed || journal.gathered > 0) && tryStep());
    },
  };
}
