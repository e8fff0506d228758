import { Database } from "bun:sqlite";
import { join } from "node:path";

/** Another sandbox runs on the same directory. */
export class SandboxInUseError extends Error {
  override readonly name = "SandboxInUseError";
}

/**
 * Takes a directory for this process. The lock is the operating system's, on a SQLite file, so it
 * ends with the process and never has to be cleaned up.
 * @returns gives the directory back
 * @throws SandboxInUseError
 */
export function lockDirectory(dir: string): () => void {
  const database = new Database(join(dir, "lock"));
  try {
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run("BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    throw new SandboxInUseError(`another sandbox runs on ${dir}; stop it first`, { cause });
  }
  return () => database.close();
}
