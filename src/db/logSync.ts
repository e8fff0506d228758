import { closeSync, fdatasync, openSync } from "node:fs";
import type { SqliteConnection } from "./sqlite.ts";

const EVERY_MS = 250;

/**
 * Has the system write SQLite's log to the disk a few times a second, on another thread. Before the
 * log is brought into the database SQLite waits until all of it is on the disk; 32 MiB at once took
 * 30 to 80 ms, in which nothing was answered.
 *
 * SQLite holds no locks on the file of its log, which closing another descriptor of it would end.
 *
 * @param file - the database's
 * @returns stops it
 */
export function syncLogInBackground({ client }: SqliteConnection, file: string): () => void {
  const countChanges = client.query<{ changes: number }, []>("SELECT total_changes() AS changes");
  let log: number | undefined;
  let seenChanges = countChanges.get()?.changes ?? 0;
  let isStopped = false;
  let isSyncing = false;

  const close = () => {
    if (log !== undefined) closeSync(log);
    log = undefined;
  };
  const sync = () => {
    const changes = countChanges.get()?.changes ?? 0;
    if (isSyncing || changes === seenChanges) return;
    seenChanges = changes;
    log ??= openLog(file);
    if (log === undefined) return;
    isSyncing = true;
    // Where it fails SQLite's own attempt fails too, and says so.
    fdatasync(log, () => {
      isSyncing = false;
      if (isStopped) close();
    });
  };
  const timer = setInterval(sync, EVERY_MS);
  timer.unref();

  return () => {
    clearInterval(timer);
    isStopped = true;
    if (!isSyncing) close();
  };
}

/** @returns undefined when it is gone, which those who use the database will notice */
function openLog(file: string): number | undefined {
  try {
    return openSync(`${file}-wal`, "r");
  } catch {
    return undefined;
  }
}
