import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";

/** A row of the ledger, as files and the table of sums have it. */
export type ChargeValues = readonly [
  keyId: string,
  hour: number,
  operation: string,
  chainId: number,
  requests: number,
  cu: number,
];

/** What was charged at once. */
export interface ChargeLine {
  /** When the keys were used, ms since the epoch; 0: that is not noted. */
  readonly at: number;
  readonly charges: readonly ChargeValues[];
}

/**
 * A file that charges are written to the end of, by one process and a line per commit: CRC-32, space,
 * JSON. What was written is in the system's hands, so it survives the process; `sync` has it survive
 * the machine.
 */
export class ChargeFile {
  readonly #fd: number;
  #length: number;
  #syncedLength = 0;
  #isSyncing = false;
  #isClosed = false;

  /** Opens a file, or makes one that its owner alone may read. */
  constructor(path: string) {
    this.#fd = openSync(path, "a", 0o600);
    this.#length = fstatSync(this.#fd).size;
  }

  /** Writes a line. @throws Error when the system takes less than all of it; nothing stays then */
  append({ at, charges }: ChargeLine): void {
    const text = JSON.stringify([at, charges]);
    // A break on either side: what an interrupted write or a power cut left is no part of a line.
    const line = `\n${Bun.hash.crc32(text)} ${text}\n`;
    const bytes = Buffer.byteLength(line);
    try {
      const written = writeSync(this.#fd, line);
      if (written < bytes) throw new Error(`only ${written} of ${bytes} bytes could be written`);
    } catch (error) {
      this.#cut();
      throw error;
    }
    this.#length += bytes;
  }

  /** Takes back what an append left that failed. */
  #cut(): void {
    try {
      ftruncateSync(this.#fd, this.#length);
    } catch {
      // Part of a line counts for nothing, and the next begins with a break.
    }
  }

  /** Has what was written brought to the disk, on another thread; to be called again and again. */
  sync(): void {
    if (this.#isSyncing || this.isSynced || this.#isClosed) return;
    const length = this.#length;
    this.#isSyncing = true;
    fdatasync(this.#fd, (error) => {
      this.#isSyncing = false;
      if (!error) this.#syncedLength = length;
      if (this.#isClosed) closeSync(this.#fd);
    });
  }

  /** Whether all that was written is on the disk. */
  get isSynced(): boolean {
    return this.#syncedLength === this.#length;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isSyncing) closeSync(this.#fd);
  }
}

/**
 * Reads the lines of a file. A line that is not whole is passed over: its writer ended, or its
 * machine did, before anyone was told that it was written.
 */
export function* readChargeLines(text: string): Generator<ChargeLine> {
  for (const line of text.split("\n")) {
    const space = line.indexOf(" ");
    const json = line.slice(space + 1);
    if (space === -1 || line.slice(0, space) !== String(Bun.hash.crc32(json))) continue;
    const [at, charges]: [number, readonly ChargeValues[]] = JSON.parse(json);
    yield { at, charges };
  }
}
