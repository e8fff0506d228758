import { Database as SqliteFile } from "bun:sqlite";
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasCode } from "../lib/hasCode.ts";
import { ChargeFile, type ChargeLine, readChargeLines } from "./chargeFile.ts";

/** Says that a process lives: the system ends it with the process, however that ends. */
export interface OwnerLock {
  /** Gives it up, where the process goes on or ends well. */
  release(): void;
}

/** The files with charges that lie beside a database. Names begin with who writes them. */
export interface ChargeFiles {
  /** This process, in the names of its files. */
  readonly owner: string;
  /** Makes a file of this process. */
  create(name: string): ChargeFile;
  /** @returns its lines; none when it is gone */
  read(name: string): Iterable<ChargeLine>;
  /** Bytes; 0 when it is gone. */
  sizeOf(name: string): number;
  remove(name: string): void;
  /** Takes the place of a process that has ended. @returns undefined while it lives */
  lock(owner: string): OwnerLock | undefined;
  /** Names of all there are. */
  names(): string[];
  /** Owners whose lock has long been all they have. */
  bareOwners(): string[];
  /** Ends what this process holds. */
  close(): void;
}

const LOCK_ENDING = ".lock";
/** A lock is made, taken, and has files beside it within much less. */
const BARE_AFTER_MS = 3_600_000;

/** What the names are of that this service gives; files of others are nobody's to remove. */
const filePattern = /^[0-9a-f]{16}-\d+$/;
const lockPattern = /^[0-9a-f]{16}\.lock$/;

/** Who writes the file of a name. */
export const ownerOf = (name: string) => name.slice(0, name.indexOf("-"));

/** @param database - path of its file */
export function createChargeFiles(database: string): ChargeFiles {
  // Links to one database name the same files, as SQLite's own log is the same for all.
  const file = realpathSync(database);
  const [directory, start] = [dirname(file), `${basename(file)}-charges-`];
  const owner = Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
  const pathOf = (name: string) => join(directory, start + name);
  let ownLock: OwnerLock | undefined;

  const endings = () =>
    readdirSync(directory)
      .filter((name) => name.startsWith(start))
      .map((name) => name.slice(start.length));
  const lock = (of: string) => tryLock(pathOf(of + LOCK_ENDING));

  return {
    owner,
    create(name) {
      ownLock ??= lock(owner);
      if (!ownLock) throw new Error(`another process has the name ${owner}`);
      return new ChargeFile(pathOf(name));
    },
    read(name) {
      const text = unlessGone(() => readFileSync(pathOf(name), "utf8"));
      return text === undefined ? [] : readChargeLines(text);
    },
    sizeOf: (name) => unlessGone(() => statSync(pathOf(name)).size) ?? 0,
    remove: (name) => rmSync(pathOf(name), { force: true }),
    lock,
    names: () => endings().filter((ending) => filePattern.test(ending)),
    bareOwners() {
      const all = endings();
      const withFiles = new Set(all.filter((ending) => filePattern.test(ending)).map(ownerOf));
      return all
        .filter((ending) => lockPattern.test(ending) && ageMs(pathOf(ending)) > BARE_AFTER_MS)
        .map((ending) => ending.slice(0, -LOCK_ENDING.length))
        .filter((name) => !withFiles.has(name));
    },
    close() {
      ownLock?.release();
      ownLock = undefined;
    },
  };
}

/**
 * SQLite's own lock of an empty file. The system has no better one on all its kinds that a process's
 * end releases, and SQLite knows the traps of this one.
 * @returns undefined while another process, or another holder in this one, has it
 */
function tryLock(path: string): OwnerLock | undefined {
  const client = new SqliteFile(path, { create: true });
  try {
    // Nothing is ever written, so there is nothing to go back to and no file for it.
    client.run("PRAGMA journal_mode = MEMORY");
    client.run("BEGIN EXCLUSIVE");
  } catch (error) {
    client.close();
    if (hasCode(error, "SQLITE_BUSY")) return undefined;
    throw error;
  }
  return {
    release() {
      client.close();
      rmSync(path, { force: true });
    },
  };
}

const ageMs = (path: string) =>
  Date.now() - (unlessGone(() => statSync(path).mtimeMs) ?? Date.now());

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
