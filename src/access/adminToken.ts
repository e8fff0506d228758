import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { SettingsStore } from "../db/index.ts";

const SETTING = "admin_token_hmac";
const TOKEN_BYTES = 32;
const KEY_BYTES = 32;

/** The operator's token. Stored is only its keyed hash, like that of keys. */
export interface AdminToken {
  /**
   * Settles the token at start: a configured one replaces what was stored; without one, the first
   * start makes it.
   * @returns the token when it was made now, to be shown this once
   */
  settle(configured: string | undefined): Promise<string | undefined>;
  /** Whether a presented token is the operator's; takes the same time for every wrong one. */
  matches(presented: string): Promise<boolean>;
  /** Names the token in force without giving it away; differs once another is configured. */
  credential(): Promise<string | undefined>;
}

/** @param pepper - the secret that is not in the database; a chosen token may be easy to guess */
export function createAdminToken(settings: SettingsStore, pepper: Uint8Array): AdminToken {
  const key = Buffer.from(hkdfSync("sha256", pepper, "", "admin token", KEY_BYTES));
  const hash = (text: string) => createHmac("sha256", key).update(text).digest("hex");
  return {
    async settle(configured) {
      if (configured !== undefined) {
        await settings.set(SETTING, hash(configured));
        return undefined;
      }
      const made = `admin_${randomBytes(TOKEN_BYTES).toString("hex")}`;
      return (await settings.setOnce(SETTING, hash(made))) === hash(made) ? made : undefined;
    },
    async matches(presented) {
      const stored = await settings.get(SETTING);
      if (stored === undefined) return false;
      return timingSafeEqual(Buffer.from(hash(presented), "hex"), Buffer.from(stored, "hex"));
    },
    async credential() {
      const stored = await settings.get(SETTING);
      return stored && hash(stored);
    },
  };
}
