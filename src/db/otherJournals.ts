import type { Database as SqliteFile } from "bun:sqlite";
import { type ChargeFiles, type OwnerLock, ownerOf } from "./chargeFiles.ts";
import type { PendingPart, PendingSums } from "./pendingSums.ts";

/** A part that waits to be brought into the ledger. */
export interface WaitingPart extends PendingPart {
  /** Of its file, that are not in the ledger. */
  readonly rows: number;
}

/** What other processes charged and is not in the ledger yet. */
export interface OtherJournals {
  /** Brings the sums of living ones up to what their files say; to be called in a transaction. */
  refresh(): void;
  /** To be called when that transaction failed. */
  reset(): void;
  /**
   * Takes over what processes that have ended left.
   * @param isThorough - removes files as well that none needs
   */
  adopt(isThorough: boolean): void;
  /** What was taken over and is to be brought into the ledger; whoever does takes it out. */
  readonly waiting: WaitingPart[];
  /** Whether living ones have charges that are not in the ledger. */
  areLeft(): boolean;
  /** Removes a file whose charges are all in the ledger. */
  remove(name: string): void;
  close(): void;
}

interface FileRow {
  readonly name: string;
  readonly foldedTo: string;
}
interface SeenPart extends PendingPart {
  readonly size: number;
}

/** @param nextGeneration - for parts that this process brings into the ledger: 1, 2, 3, … */
export function createOtherJournals(
  client: SqliteFile,
  files: ChargeFiles,
  sums: PendingSums,
  nextGeneration: () => number,
): OtherJournals {
  const selectFiles = client.query<FileRow, []>(
    "SELECT name, folded_to AS foldedTo FROM charge_files ORDER BY name",
  );
  const dropSeen = client.query("DELETE FROM temp.usage_pending WHERE generation < 0");
  /** Of living processes, in generations below 0. */
  const seen = new Map<string, SeenPart>();
  let lastSeen = 0;
  /** Of processes that have ended, until nothing is left of them. */
  const adopted = new Map<string, { readonly lock: OwnerLock; readonly names: Set<string> }>();
  const waiting: WaitingPart[] = [];

  const isOwn = (owner: string) => owner === files.owner || adopted.has(owner);
  const look = ({ name, foldedTo }: FileRow) => {
    const before = seen.get(name);
    const size = files.sizeOf(name);
    if (before?.size === size && before.foldedTo === foldedTo) return;
    const generation = before?.generation ?? --lastSeen;
    sums.drop(generation);
    sums.load({ generation, name, foldedTo }, files.read(name));
    seen.set(name, { generation, name, foldedTo, size });
  };
  const overlook = (name: string) => {
    const part = seen.get(name);
    if (part) sums.drop(part.generation);
    seen.delete(name);
  };

  const loadAll = client.transaction((owner: string): WaitingPart[] => {
    const ofOwner = selectFiles.all().filter(({ name }) => ownerOf(name) === owner);
    return ofOwner.map(({ name, foldedTo }) => {
      const known = seen.get(name);
      if (known) sums.drop(known.generation);
      const generation = nextGeneration();
      const rows = sums.load({ generation, name, foldedTo }, files.read(name));
      return { generation, name, foldedTo, rows };
    });
  });
  /** Nothing is left of a process when all its files are removed. */
  const releaseWhenDone = (owner: string) => {
    const left = adopted.get(owner);
    if (left?.names.size !== 0) return;
    left.lock.release();
    adopted.delete(owner);
  };
  const takeOver = (owner: string, lock: OwnerLock) => {
    let parts: WaitingPart[];
    try {
      parts = loadAll(owner);
    } catch (error) {
      lock.release();
      throw error;
    }
    const names = new Set(parts.map(({ name }) => name));
    for (const name of names) seen.delete(name);
    adopted.set(owner, { lock, names });
    waiting.push(...parts);
    // Files that the database does not know: it was told that they are done with.
    for (const name of files.names()) {
      if (ownerOf(name) === owner && !names.has(name)) files.remove(name);
    }
    releaseWhenDone(owner);
  };

  return {
    refresh() {
      const living = selectFiles.all().filter(({ name }) => !isOwn(ownerOf(name)));
      const names = new Set(living.map(({ name }) => name));
      for (const name of seen.keys()) if (!names.has(name)) overlook(name);
      for (const row of living) look(row);
    },
    reset() {
      dropSeen.run();
      seen.clear();
    },
    adopt(isThorough) {
      const names = selectFiles.all().map(({ name }) => name);
      if (isThorough) names.push(...files.names());
      const owners = new Set(names.map(ownerOf));
      if (isThorough) for (const owner of files.bareOwners()) owners.add(owner);
      for (const owner of owners) {
        const lock = isOwn(owner) ? undefined : files.lock(owner);
        if (!lock) continue;
        takeOver(owner, lock);
      }
    },
    waiting,
    areLeft: () => selectFiles.all().some(({ name }) => !isOwn(ownerOf(name))),
    remove(name) {
      files.remove(name);
      const owner = ownerOf(name);
      adopted.get(owner)?.names.delete(name);
      releaseWhenDone(owner);
    },
    close() {
      for (const { lock } of adopted.values()) lock.release();
      adopted.clear();
    },
  };
}
