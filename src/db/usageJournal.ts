import type { SqliteConnection } from "./sqlite.ts";
import type { UsageRow } from "./types.ts";

/** Charges that gather no more but are being brought into the ledger. */
export interface Sealed {
  /** What tells them from charges that came later. */
  readonly generation: number;
  /** Last line of the journal they are in. */
  readonly through: number;
  /** Those of keys up to here are in the ledger; null: all are. */
  readonly foldedTo: string | null;
}

/** The ledger's journal, with the sums of what is not in the ledger yet. */
export interface UsageJournal {
  /** Writes charges in one commit. @param at - when their keys were used; 0: not to be noted */
  append(rows: readonly UsageRow[], at: number): void;
  /** Brings the sums in memory up to what the database says. */
  refresh(): void;
  /** Adds what came last to the sums; not to be called in a transaction, which might be undone. */
  settle(): void;
  /** Makes this process the one that writes; to be called in the transaction that does. */
  own(): void;
  /** The same in a transaction of its own, since it takes a while where much was left behind. */
  takeOver(): void;
  /** Rows written since the newest generation began. */
  readonly gathered: number;
  sealed: Sealed | undefined;
  /** Ends the newest generation and begins another. */
  seal(): Sealed;
}

/** What is in the journal and not in the ledger, summed; only in this process's memory. */
const PENDING_TABLE = `
  CREATE TEMP TABLE usage_pending (
    key_id TEXT NOT NULL, hour INTEGER NOT NULL, operation TEXT NOT NULL, chain_id INTEGER NOT NULL,
    generation INTEGER NOT NULL, requests INTEGER NOT NULL, cu INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (key_id, hour, operation, chain_id, generation)
  ) WITHOUT ROWID`;
const ADD_PENDING = `
  INSERT INTO temp.usage_pending VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, cu = cu + excluded.cu,
    at = max(at, excluded.at)`;

interface Line {
  readonly seq: number;
  readonly at: number;
  /** JSON of {@link Values} of each row. */
  readonly charges: string;
}
type Values = ReturnType<typeof toValues>;

/** Rows that are added up before they go into the table of sums, which costs more. */
const MAX_RECENT = 256;
type RecentRow = { -readonly [Field in keyof UsageRow]: UsageRow[Field] } & { at: number };

interface State {
  readonly owner: string;
  /** 0: nothing is being folded. */
  readonly through: number;
  readonly folded_to: string | null;
}

/**
 * Opens the journal. A commit of many keys' charges would write a page of the ledger for nearly each
 * of them; so it appends one line to the journal instead, and `usageFold.ts` brings the sums of many
 * lines into the ledger, in the ledger's order.
 *
 * What is in the ledger and what is not, the database alone says. The sums in memory are right as
 * long as this process was the last to write; another one that writes reads the journal first.
 */
export function createUsageJournal({ client }: Pick<SqliteConnection, "client">): UsageJournal {
  /** Names this process and its sums; a new name disowns sums that are not right. */
  let self = crypto.randomUUID();
  client.run(PENDING_TABLE);
  const readState = client.query<State, []>("SELECT owner, through, folded_to FROM usage_fold");
  const take = client.query<null, [string]>("UPDATE usage_fold SET owner = ?");
  const clear = client.query("DELETE FROM temp.usage_pending");
  const lines = client.query<Line, []>("SELECT seq, at, charges FROM usage_journal ORDER BY seq");
  // One statement for looking who wrote last and for writing costs half of a transaction of two.
  const addLine = client.query<null, [number, string, string]>(
    "INSERT INTO usage_journal (at, charges) SELECT ?, ? FROM usage_fold WHERE owner = ?",
  );
  const addPending = client.query(ADD_PENDING);
  const lastLine = client.query<{ seq: number }, []>("SELECT max(seq) AS seq FROM usage_journal");
  let generation = 1;
  let gathered = 0;
  /** Of the newest generation, by all but the sums. */
  const recent = new Map<string, RecentRow>();

  const load = ({ through, folded_to: foldedTo }: Omit<State, "owner">) => {
    clear.run();
    recent.clear();
    generation = 1;
    gathered = 0;
    for (const { seq, at, charges } of lines.iterate()) {
      const isNew = seq > through;
      for (const values of JSON.parse(charges) as Values[]) {
        if (!isNew && (foldedTo === null || values[0] <= foldedTo)) continue;
        add(values, Number(isNew), at);
        gathered += 1;
      }
    }
    journal.sealed = through > 0 ? { generation: 0, through, foldedTo } : undefined;
  };
  const add = ([keyId, hour, operation, chainId, requests, cu]: Values, of: number, at: number) =>
    addPending.run(keyId, hour, operation, chainId, of, requests, cu, at);

  const note = (row: UsageRow, at: number) => {
    const { keyId, hour, operation, chainId, requests, cu } = row;
    const id = `${keyId} ${hour} ${operation} ${chainId}`;
    const sums = recent.get(id);
    if (!sums) return void recent.set(id, { ...row, at });
    sums.requests += requests;
    sums.cu += cu;
    sums.at = Math.max(sums.at, at);
  };
  const addRecent = client.transaction(() => {
    for (const row of recent.values()) add(toValues(row), generation, row.at);
  });
  const settle = () => {
    if (recent.size === 0) return;
    addRecent();
    recent.clear();
  };
  const disown = () => {
    self = crypto.randomUUID();
  };

  /** @returns whether the sums had to be read anew, because another process wrote last */
  const refresh = (): boolean => {
    const { owner, ...folded } = readState.get() ?? nothing;
    if (owner === self) return false;
    load(folded);
    return true;
  };
  const own = () => {
    if (refresh()) take.run(self);
  };
  const takeOver = client.transaction(own);
  const bringUp = client.transaction(() => void refresh());
  /** @returns false when another process wrote last: nothing is written, and the sums are not right */
  const write = (rows: readonly UsageRow[], at: number): boolean => {
    const isWritten = addLine.run(at, JSON.stringify(rows.map(toValues)), self).changes > 0;
    if (isWritten) for (const row of rows) note(row, at);
    return isWritten;
  };
  const takeOverAndWrite = client.transaction((rows: readonly UsageRow[], at: number) => {
    own();
    // A charge that is not written must not be taken for one that is.
    if (!write(rows, at)) throw new Error("usage_fold has no row: the journal belongs to nobody");
  });

  const journal: UsageJournal = {
    append(rows, at) {
      if (rows.length === 0) return;
      if (recent.size > MAX_RECENT) settle();
      try {
        if (!write(rows, at)) takeOverAndWrite.immediate(rows, at);
      } catch (error) {
        // Whether it was written, and what else was undone, the database alone can say.
        disown();
        throw error;
      }
      gathered += rows.length;
    },
    refresh() {
      settle();
      bringUp();
    },
    settle,
    own,
    takeOver: () => takeOver.immediate(),
    get gathered() {
      return gathered;
    },
    sealed: undefined,
    seal() {
      const through = lastLine.get()?.seq ?? 0;
      const sealed = { generation, through, foldedTo: "" };
      journal.sealed = sealed;
      generation += 1;
      gathered = 0;
      return sealed;
    },
  };
  return journal;
}

const nothing: State = { owner: "", through: 0, folded_to: null };

/** @throws RangeError for what could be entered in the journal, but never in the ledger */
function toValues({ keyId, hour, operation, chainId, requests, cu }: UsageRow) {
  for (const count of [hour, chainId, requests, cu]) {
    if (!Number.isSafeInteger(count)) throw new RangeError(`a charge of ${count}`);
  }
  return [keyId, hour, operation, chainId, requests, cu] as const;
}
