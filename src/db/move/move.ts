import type { Database as SqliteFile } from "bun:sqlite";
import type { SQL } from "bun";
import { NO_SLOT } from "../postgres/presence.ts";
import { settleLedger } from "../usageFold.ts";
import { type Checksum, type RawValue, RowSum } from "./checksum.ts";
import { type MovedTable, movedTables } from "./tables.ts";

/** The move cannot be made, or did not turn out right; the message says why. */
export class MoveError extends Error {
  override readonly name = "MoveError";
}

export interface MoveOptions {
  readonly source: SqliteFile;
  /** Names the source, so that an interrupted move of the same goes on. */
  readonly sourceName: string;
  readonly target: SQL;
  /** Told of each table when it is moved and compared. */
  readonly progress: (table: string, rows: number, isNew: boolean) => void;
}

const PAGE_ROWS = 1_000;
/** Who else moves into this database must wait. */
const MOVE_LOCK = 0x4341_5505;

/**
 * Copies every table from SQLite into an empty Postgres database of the newest schema and compares
 * both sides by count and checksum. Each table is copied in one transaction with a note of it, so a
 * move that was interrupted goes on where it was.
 * @throws MoveError when the target is not empty, the source changed meanwhile, or the sides differ
 */
export async function moveEverything(options: MoveOptions): Promise<void> {
  const { source, sourceName, target, progress } = options;
  await target`CREATE TABLE IF NOT EXISTS move_progress (source text, name text PRIMARY KEY)`;
  const notes: { source: string; name: string }[] = await target`SELECT * FROM move_progress`;
  if (notes.some((note) => note.source !== sourceName)) {
    throw new MoveError(`The target holds an unfinished move of ${notes[0]?.source}`);
  }
  const done = new Set(notes.map(({ name }) => name));
  await refuseRows(target, done);

  if (!settleLedger({ client: source })) {
    throw new MoveError("A service is running on the source: stop it first");
  }
  const version = dataVersion(source);
  for (const table of movedTables) {
    const isNew = !done.has(table.name);
    if (isNew) await copyTable(source, target, table, sourceName);
    const [there, here] = [sumSource(source, table), await sumTarget(target, table)];
    if (!isEqual(there, here)) {
      throw new MoveError(
        `${table.name} differs: ${there.rows} rows in the source, ${here.rows} in the target`,
      );
    }
    progress(table.name, here.rows, isNew);
  }
  if (dataVersion(source) !== version) {
    throw new MoveError("The source changed meanwhile: stop the service, empty the target, repeat");
  }
  await target`DROP TABLE move_progress`;
}

async function refuseRows(target: SQL, done: ReadonlySet<string>): Promise<void> {
  for (const { name } of movedTables) {
    if (done.has(name)) continue;
    const [row] = await target.unsafe(`SELECT EXISTS (SELECT FROM ${name}) AS has_rows`);
    if (row.has_rows) throw new MoveError(`The target is not empty: ${name} has rows`);
  }
}

async function copyTable(
  source: SqliteFile,
  target: SQL,
  table: MovedTable,
  sourceName: string,
): Promise<void> {
  const { name, columns, hasSequence } = table;
  const slot = name === "usage" ? { column: ", slot", value: `, ${NO_SLOT}` } : undefined;
  const record = columns.map((column) => `"${column.name}" ${column.type}`).join(", ");
  const insert =
    `INSERT INTO ${name} (${namesOf(table)}${slot?.column ?? ""}) ` +
    `SELECT ${namesOf(table)}${slot?.value ?? ""} ` +
    `FROM jsonb_to_recordset($1::text::jsonb) AS moved(${record})`;

  await target.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${MOVE_LOCK})`;
    for (const page of pagesOf(source, table)) {
      const rows = page.map((row) =>
        Object.fromEntries(
          columns.map((column) => [
            column.name,
            column.type === "boolean" ? row[column.name] === 1 : row[column.name],
          ]),
        ),
      );
      await tx.unsafe(insert, [JSON.stringify(rows)]);
    }
    if (hasSequence) {
      await tx.unsafe(
        `SELECT setval(pg_get_serial_sequence('${name}', 'id'), coalesce(max(id), 0) + 1, false) FROM ${name}`,
      );
    }
    await tx`INSERT INTO move_progress (source, name) VALUES (${sourceName}, ${name})`;
  });
}

type SourceRow = Readonly<Record<string, RawValue>>;

/** All rows, in the order they were inserted. */
function* pagesOf(source: SqliteFile, table: MovedTable): Generator<SourceRow[]> {
  const select = source.query<SourceRow, [number]>(
    `SELECT rowid AS source_row, ${namesOf(table)} ` +
      `FROM ${table.name} WHERE rowid > ? ORDER BY rowid LIMIT ${PAGE_ROWS}`,
  );
  let last = -1;
  for (;;) {
    const page = select.all(last);
    if (page.length === 0) return;
    yield page;
    last = Number(page.at(-1)?.["source_row"]);
  }
}

function sumSource(source: SqliteFile, table: MovedTable): Checksum {
  const sum = new RowSum();
  for (const page of pagesOf(source, table)) {
    for (const row of page) sum.add(table.columns.map(({ name }) => row[name] ?? null));
  }
  return sum.result();
}

async function sumTarget(target: SQL, table: MovedTable): Promise<Checksum> {
  const sum = new RowSum();
  await target.begin(async (tx) => {
    const select = `SELECT ${namesOf(table)} FROM ${table.name}`;
    await tx.unsafe(`DECLARE moved_rows CURSOR FOR ${select}`);
    for (;;) {
      const rows: RawValue[][] = await tx.unsafe(`FETCH ${PAGE_ROWS} FROM moved_rows`).values();
      if (rows.length === 0) return;
      for (const row of rows) sum.add(row);
    }
  });
  return sum.result();
}

/** Quoted, because some are words of SQL. */
function namesOf({ columns }: MovedTable): string {
  return columns.map(({ name }) => `"${name}"`).join(", ");
}

function isEqual(a: Checksum, b: Checksum): boolean {
  return a.rows === b.rows && a.digest === b.digest;
}

/** Differs once another connection has changed the file. */
function dataVersion(source: SqliteFile): number {
  const row = source.query<{ data_version: number }, []>("PRAGMA data_version").get();
  return row?.data_version ?? 0;
}
