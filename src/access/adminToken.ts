import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { SettingsStore } from "../db/index.ts";

const SETTING = "admin_token_hash";
const TOKEN_BYTES = 32;

/**
 * Settles the operator's token at start: a configured one replaces what was stored; without one,
 * the first start makes it. Only its hash is stored, which is enough for a random token.
 * @returns the token when it was made now, to be shown this once
 */
export async function settleAdminToken(
  settings: SettingsStore,
  configured: string | undefined,
): Promise<string | undefined> {
  if (configured !== undefined) {
    await settings.set(SETTING, hash(configured));
    return undefined;
  }
  const made = `admin_${randomBytes(TOKEN_BYTES).toString("hex")}`;
  return (await settings.setOnce(SETTING, hash(made))) === hash(made) ? made : undefined;
}

/** Whether a presented token is the operator's; takes the same time for every wrong one. */
export async function isAdminToken(settings: SettingsStore, presented: string): Promise<boolean> {
  const stored = await settings.get(SETTING);
  if (stored === undefined) return false;
  return timingSafeEqual(Buffer.from(hash(presented), "hex"), Buffer.from(stored, "hex"));
}

function hash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
