import { createHmac, randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError, type PepperSource } from "../config/index.ts";
import type { SettingsStore } from "../db/index.ts";
import { hasCode } from "../lib/hasCode.ts";

const PEPPER_BYTES = 32;
const FINGERPRINT = "key_pepper_fingerprint";

/**
 * Takes the pepper of the key hashes from its source; a file that does not exist is made. It is
 * never in the database, so that a copy of the database alone is of no use.
 * @param source - empty for a database in memory, which then has a pepper of its own
 * @throws ConfigError when it is not the one the stored keys were hashed with
 */
export async function loadPepper(
  source: PepperSource,
  settings: SettingsStore,
): Promise<Uint8Array> {
  const pepper = take(source);
  const fingerprint = createHmac("sha256", pepper).update("fingerprint").digest("hex");
  if ((await settings.setOnce(FINGERPRINT, fingerprint)) !== fingerprint) {
    const remedy = source.file ? "restore the file" : "set it as KEY_PEPPER or KEY_PEPPER_FILE";
    throw new ConfigError(
      `${source.file ?? "KEY_PEPPER"}: not the pepper this database's API keys were hashed with; ${remedy}`,
    );
  }
  return pepper;
}

function take({ hex, file }: PepperSource): Uint8Array {
  if (hex) return Buffer.from(hex, "hex");
  return file ? readOrCreate(file) : randomBytes(PEPPER_BYTES);
}

/** A finished file appears under the name at once, so two processes end up with the same pepper. */
function readOrCreate(file: string): Uint8Array {
  const existing = read(file);
  if (existing) return existing;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  writeFileSync(draft, `${randomBytes(PEPPER_BYTES).toString("hex")}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const pepper = read(file);
  if (!pepper) throw new ConfigError(`${file}: vanished while starting`);
  return pepper;
}

function read(file: string): Uint8Array | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
  if (!/^[0-9a-f]{64}$/.test(text)) throw new ConfigError(`${file}: not a pepper of 64 hex digits`);
  return Buffer.from(text, "hex");
}
