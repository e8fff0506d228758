import { existsSync, realpathSync } from "node:fs";
import { parseArgs } from "node:util";
import { isPostgresUrl } from "../../config/index.ts";
import { connectPostgres, openPool } from "../postgres/connection.ts";
import { migrate } from "../postgres/migrate.ts";
import { openSqlite } from "../sqlite.ts";
import { MoveError, moveEverything } from "./move.ts";

const HELP = `usage: bun run migrate --from sqlite:<path> --to postgres://user:password@host/name

Moves keys, usage, audit log, transfers and settings into an empty Postgres database and compares
both sides. Stop the service first. A move that was interrupted goes on where it was. The keys'
pepper is not in the database: keep its file, or set KEY_PEPPER_FILE to it.`;

/** The command line is wrong; the message says how. */
export class MigrateUsageError extends Error {
  override readonly name = "MigrateUsageError";
}

/**
 * `bun run migrate`.
 * @param print - receives each line of output
 * @throws MigrateUsageError, MoveError
 */
export async function migrateCommand(args: string[], print: (line: string) => void): Promise<void> {
  const { from, to, help } = readArguments(args);
  if (help) return print(HELP);
  const file = sourceFile(from);
  if (!to || !isPostgresUrl(to)) throw new MigrateUsageError("--to must be postgres://…");

  const source = openSqlite(file);
  const target = openPool(to, 2);
  try {
    await migrate(connectPostgres(target));
    await moveEverything({
      source: source.client,
      sourceName: realpathSync(file),
      target,
      progress: (table, rows, isNew) =>
        print(`${table}: ${rows} rows ${isNew ? "moved and compared" : "moved before, compared"}`),
    });
    print("Everything is moved. Start the service with DATABASE_URL set to the target.");
  } finally {
    source.client.close();
    await target.close({ timeout: 1 });
  }
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        from: { type: "string" },
        to: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new MigrateUsageError(error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}

function sourceFile(from: string | undefined): string {
  const path = /^(?:sqlite|file):(.+)$/.exec(from ?? "")?.[1]?.replace(/^\/\/(?=\/)/, "");
  if (!path) throw new MigrateUsageError("--from must be sqlite:<path>");
  if (!existsSync(path)) throw new MoveError(`There is no database ${path}`);
  return path;
}
