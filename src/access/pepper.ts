import { createHmac, randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { ConfigError } from "../config/index.ts";
import type { SettingsStore } from "../db/index.ts";

const PEPPER_BYTES = 32;
const FINGERPRINT = "key_pepper_fingerprint";

/**
 * Reads the pepper of the key hashes from its file, or makes it on the first start. It lies beside
 * the database, not in it, so that a copy of the database alone is of no use.
 * @param file - path of the pepper's file; undefined for a database in memory
 * @throws ConfigError when the file is not the one the stored keys were hashed with
 */
export async function loadPepper(
  file: string | undefined,
  settings: SettingsStore,
): Promise<Uint8Array> {
  const pepper = file === undefined ? randomBytes(PEPPER_BYTES) : readOrCreate(file);
  const fingerprint = createHmac("sha256", pepper).update("fingerprint").digest("hex");
  if ((await settings.setOnce(FINGERPRINT, fingerprint)) !== fingerprint) {
    throw new ConfigError(
      `${file}: not the pepper this database's API keys were hashed with; restore the file`,
    );
  }
  return pepper;
}

/** A finished file appears under the name at once, so two processes end up with the same pepper. */
function readOrCreate(file: string): Uint8Array {
  const existing = read(file);
  if (existing) return existing;
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

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
