import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import type { SqliteConnection } from "./sqlite.ts";
import type { UsageJournal } from "./usageJournal.ts";

const EVERY_MS = 250;

/**
 * Has the system write charges and SQLite's log to the disk a few times a second, on another thread.
 * Before the log is brought into the database SQLite waits until all of it is on the disk; 32 MiB at
 * once took 30 to 80 ms, in which nothing was answered.
 *
 * A file of charges that is done with is removed when the log that says so is on the disk: after a
 * power cut there must be one or the other.
 *
 * SQLite holds no locks on the file of its log, which closing another descriptor of it would end.
 *
 * @param file - the database's
 * @returns stops it
 */
export function syncInBackground(
  { client }: SqliteConnection,
  journal: UsageJournal,
  file: string,
): () => void {
  const countChanges = client.query<{ changes: number }, []>("SELECT total_changes() AS changes");
  let log: number | undefined;
  let seenChanges = countChanges.get()?.changes ?? 0;
  let isStopped = false;
  let isSyncing = false;
  /** Files that are done with; the disk need not know yet. */
  const finished: string[] = [];

  const close = () => {
    if (log !== undefined) closeSync(log);
    log = undefined;
  };
  const sync = () => {
    journal.sync();
    finished.push(...journal.takeFinished());
    const changes = countChanges.get()?.changes ?? 0;
    if (isSyncing || changes === seenChanges) return;
    seenChanges = changes;
    log ??= openLog(file);
    if (log === undefined) return;
    isSyncing = true;
    const covered = finished.length;
    // Where it fails SQLite's own attempt fails too, and says so.
    fdatasync(log, (error) => {
      isSyncing = false;
      if (isStopped) return close();
      if (!error) journal.remove(finished.splice(0, covered));
    });
  };
  const timer = setInterval(sync, EVERY_MS);
  timer.unref();

  return () => {
    clearInterval(timer);
    isStopped = true;
    finished.push(...journal.takeFinished());
    log ??= finished.length > 0 ? openLog(file) : undefined;
    if (log === undefined) return;
    try {
      if (finished.length > 0) fdatasyncSync(log);
      journal.remove(finished);
    } catch {
      // What is done with and still there, the next start removes.
    }
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
