import type { ChargeFile, ChargeValues } from "./chargeFile.ts";
import { createChargeFiles } from "./chargeFiles.ts";
import { createOtherJournals } from "./otherJournals.ts";
import { createPendingSums, type PendingPart } from "./pendingSums.ts";
import type { SqliteConnection } from "./sqlite.ts";
import type { UsageRow } from "./types.ts";

/** The ledger's journal, with the sums of what is not in the ledger yet. */
export interface UsageJournal {
  /**
   * Writes charges at once.
   * @param at - when their keys were used; 0: not to be noted
   * @throws RangeError for what could be written here, but never in the ledger
   * @throws Error when it could not be written; nothing of it counts then
   */
  append(rows: readonly UsageRow[], at: number): void;
  /** Answers from the ledger and all journals, as of one moment. */
  read<Answer>(select: () => Answer): Answer;
  /** Takes over what processes that have ended left; to be called at the start. */
  takeOver(): void;
  /** Whether living processes have charges that are not in the ledger. */
  isShared(): boolean;
  /** Rows that are neither in the ledger nor being brought into it. */
  readonly gathered: number;
  /** What is being brought into the ledger. */
  readonly sealed: PendingPart | undefined;
  /**
   * Ends a part that gathers and begins another.
   * @returns undefined when there is nothing
   * @throws Error when another cannot be begun; all is as before then
   */
  seal(): PendingPart | undefined;
  /** To be told what is left of the sealed part after a step; undefined: nothing is. */
  advance(left: PendingPart | undefined): void;
  /** Has what was written brought to the disk, on another thread; to be called again and again. */
  sync(): void;
  /** Files that are done with since the last call; to be removed once the disk knows. */
  takeFinished(): readonly string[];
  remove(names: readonly string[]): void;
  /** Leaves what is not in the ledger to the next start. */
  close(): void;
}

/** Rows that are added up before they go into the table of sums, which costs more. */
const MAX_RECENT = 256;
type RecentRow = { -readonly [Field in keyof UsageRow]: UsageRow[Field] } & { at: number };

/** The part that this process's charges go to. */
interface Newest {
  readonly generation: number;
  readonly name: string;
  readonly file: ChargeFile | undefined;
  rows: number;
}

/**
 * Opens the journal. A commit of many keys' charges would write a page of the ledger for nearly each
 * of them; so it appends one line to a file instead, and `usageFold.ts` brings the sums of many lines
 * into the ledger, in the ledger's order.
 *
 * Each process writes files of its own, one after another, and alone brings them into the ledger, as
 * long as it lives. Which files there are and how much of them is in the ledger, the database says.
 */
export function createUsageJournal({ client }: Pick<SqliteConnection, "client">): UsageJournal {
  const files = client.filename === ":memory:" ? undefined : createChargeFiles(client.filename);
  const sums = createPendingSums(client);
  const addFile = client.query<null, [string]>("INSERT INTO charge_files (name) VALUES (?)");
  const forgetFile = client.query<null, [string]>("DELETE FROM charge_files WHERE name = ?");
  let generation = 0;
  const others = files && createOtherJournals(client, files, sums, () => ++generation);

  let newest: Newest | undefined;
  let sealed: PendingPart | undefined;
  const waiting = others?.waiting ?? [];
  /** Files that gather no more and may not be on the disk yet. */
  const retired = new Map<string, ChargeFile>();
  let finished: string[] = [];
  /** Of the newest part, by all but the sums. */
  const recent = new Map<string, RecentRow>();

  const begin = (): Newest => {
    const name = `${files?.owner ?? "memory"}-${++generation}`;
    const file = files?.create(name);
    try {
      addFile.run(name);
    } catch (error) {
      file?.close();
      files?.remove(name);
      throw error;
    }
    return { generation, name, file, rows: 0 };
  };
  const note = (row: UsageRow, at: number) => {
    const { keyId, hour, operation, chainId, requests, cu } = row;
    const id = `${keyId} ${hour} ${operation} ${chainId}`;
    const known = recent.get(id);
    if (!known) return void recent.set(id, { ...row, at });
    known.requests += requests;
    known.cu += cu;
    known.at = Math.max(known.at, at);
  };
  const addRecent = client.transaction((of: number) => {
    for (const row of recent.values()) sums.add(toValues(row), of, row.at);
  });
  /** Adds what came last to the sums; not to be called in a transaction, which might be undone. */
  const settle = () => {
    if (!newest || recent.size === 0) return;
    addRecent(newest.generation);
    recent.clear();
  };
  const retireNewest = (): PendingPart | undefined => {
    if (!newest || newest.rows === 0) return undefined;
    const { generation: of, name, file } = newest;
    // Where no more files can be opened, charges go on where they went.
    newest = begin();
    if (file) retired.set(name, file);
    return { generation: of, name, foldedTo: "" };
  };
  const endNewest = () => {
    newest?.file?.close();
    if (newest?.rows !== 0) return;
    try {
      forgetFile.run(newest.name);
      files?.remove(newest.name);
    } catch {
      // An empty file is left to the next start like any other.
    }
  };

  return {
    append(rows, at) {
      if (rows.length === 0) return;
      const charges = rows.map(toValues);
      if (recent.size > MAX_RECENT) settle();
      newest ??= begin();
      newest.file?.append({ at, charges });
      newest.rows += rows.length;
      for (const row of rows) note(row, at);
    },
    read(select) {
      settle();
      try {
        return client.transaction(() => {
          others?.refresh();
          return select();
        })();
      } catch (error) {
        others?.reset();
        throw error;
      }
    },
    takeOver: () => others?.adopt(true),
    isShared: () => others?.areLeft() ?? false,
    get gathered() {
      return waiting.reduce((sum, { rows }) => sum + rows, newest?.rows ?? 0);
    },
    get sealed() {
      return sealed;
    },
    seal() {
      others?.adopt(false);
      settle();
      sealed = waiting.shift() ?? retireNewest();
      return sealed;
    },
    advance(left) {
      if (sealed && !left) finished.push(sealed.name);
      sealed = left;
    },
    sync() {
      newest?.file?.sync();
      for (const [name, file] of retired) {
        file.sync();
        if (!file.isSynced) continue;
        file.close();
        retired.delete(name);
      }
    },
    takeFinished() {
      const taken = finished;
      finished = [];
      return taken;
    },
    remove(names) {
      for (const name of names) {
        retired.get(name)?.close();
        retired.delete(name);
        others?.remove(name);
      }
    },
    close() {
      endNewest();
      for (const file of retired.values()) file.close();
      others?.close();
      files?.close();
    },
  };
}

function toValues({ keyId, hour, operation, chainId, requests, cu }: UsageRow): ChargeValues {
  for (const count of [hour, chainId, requests, cu]) {
    if (!Number.isSafeInteger(count)) throw new RangeError(`a charge of ${count}`);
  }
  return [keyId, hour, operation, chainId, requests, cu];
}
