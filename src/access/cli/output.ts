import { formatDecimalAmount } from "../../lib/amounts.ts";
import type { ApiKey, KeyDetails } from "../keys.ts";
import { UNLIMITED_WINDOW } from "../keyRules.ts";

/** What a command answers, for programs and for people. */
export interface Output {
  readonly data: unknown;
  readonly text: string;
}

const USDC_DECIMALS = 6;

/** A key as JSON: ISO times, bridge limits in USDC. */
export function keyJson(key: ApiKey) {
  const { bridgePerTransferAtomic, bridgePerDayAtomic, ...rest } = key;
  return {
    ...rest,
    bridgeLimits: {
      perTransferUsdc: usdc(bridgePerTransferAtomic),
      perDayUsdc: usdc(bridgePerDayAtomic),
    },
    createdAt: iso(key.createdAt),
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
  };
}

/** A key with hints of its secrets and its last use, as JSON. */
export function detailsJson(key: KeyDetails, lastUsedAt: number | undefined) {
  const secrets = key.secrets.map(({ hint, createdAt, graceUntil }) => ({
    hint,
    createdAt: iso(createdAt),
    graceUntil: iso(graceUntil),
  }));
  return { ...keyJson(key), lastUsedAt: iso(lastUsedAt ?? null), secrets };
}

/** Members of a JSON object, one per line. */
export function members(data: object): string {
  return Object.entries(data)
    .map(([name, value]) => `${name.padEnd(14)} ${plain(value)}`)
    .join("\n");
}

/** One line per key: id, hint, scopes, quota, state, name. */
export function keyTable(keys: readonly KeyDetails[], now: number): string {
  const rows = keys.map((key) => [
    key.id,
    key.secrets[0]?.hint ?? "",
    key.scopes.join(","),
    `limit ${limitOf(key)}`,
    stateOf(key, now),
    key.name,
  ]);
  return rows.length === 0 ? "no keys" : table(rows);
}

/** A new secret, which is shown this once. */
export function withSecret(key: ApiKey, secret: string): Output {
  const { id, ...rest } = keyJson(key);
  const text = `${secret}\n\n${members({ id, ...rest })}\n\nThe key is shown this once; only a keyed hash is stored.`;
  return { data: { id, key: secret, ...rest }, text };
}

/** Rows with their columns aligned. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** ISO form of a time in ms since the epoch. */
export function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function limitOf({ windowLimit }: ApiKey): string {
  return windowLimit === UNLIMITED_WINDOW ? "none" : String(windowLimit ?? "default");
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== null) return `revoked ${iso(revokedAt)}`;
  if (expiresAt === null) return "active";
  return `${expiresAt <= now ? "expired" : "active until"} ${iso(expiresAt)}`;
}

function usdc(atomic: bigint | null): string | null {
  return atomic === null ? null : formatDecimalAmount(atomic, USDC_DECIMALS);
}

function plain(value: unknown): string {
  if (value === null || value === "") return "-";
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return value.join(", ") || "-";
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
