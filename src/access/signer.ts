import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

const KEY_BYTES = 32;

/** Signs short texts that leave the service and come back. */
export interface Signer {
  /** @returns `text.signature`, the signature in URL-safe base64 */
  sign(text: string): string;
  /** @returns the text, or undefined when it was not signed with this key */
  open(signed: string): string | undefined;
}

/** @param pepper - the secret that lies beside the database */
export function createSigner(pepper: Uint8Array): Signer {
  const key = Buffer.from(hkdfSync("sha256", pepper, "", "signed texts", KEY_BYTES));
  const signatureOf = (text: string) => createHmac("sha256", key).update(text).digest();
  return {
    sign: (text) => `${text}.${signatureOf(text).toString("base64url")}`,
    open(signed) {
      const dot = signed.lastIndexOf(".");
      const text = signed.slice(0, Math.max(0, dot));
      const presented = Buffer.from(signed.slice(dot + 1), "base64url");
      const expected = signatureOf(text);
      const isOurs = presented.length === expected.length && timingSafeEqual(presented, expected);
      return dot > 0 && isOurs ? text : undefined;
    },
  };
}
