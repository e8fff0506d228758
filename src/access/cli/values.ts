import type { KeyChanges } from "../../db/index.ts";
import { parseDecimalAmount } from "../../lib/amounts.ts";
import { UNLIMITED_WINDOW } from "../keyRules.ts";

/** The command line is wrong; the message says how. */
export class KeysUsageError extends Error {
  override readonly name = "KeysUsageError";
}

/** Options by name, as `parseArgs` read them. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

const USDC_DECIMALS = 6;
const NONE = "none";
const DURATION_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * What the options grant a key; options that are not given are left out.
 * @throws KeysUsageError
 */
export function readGrants(values: Values): KeyChanges {
  const grants: Record<string, unknown> = {};
  for (const [option, [member, read]] of Object.entries(grantOptions)) {
    const value = text(values, option);
    if (value !== undefined) grants[member] = read(value, `--${option}`);
  }
  return grants;
}

type Read<Member extends keyof KeyChanges> = (text: string, option: string) => KeyChanges[Member];
type GrantOption = { [Member in keyof KeyChanges]-?: readonly [Member, Read<Member>] };

/** Option → what it sets, and how its text is read. */
const grantOptions: Readonly<Record<string, GrantOption[keyof GrantOption]>> = {
  name: ["name", (name) => name],
  scopes: ["scopes", (names, option) => list(required(names, option))],
  limit: ["windowLimit", windowLimit],
  "cu-allowance": ["cuAllowance", orNone(integer)],
  expires: ["expiresAt", orNone(instant)],
  ip: ["ipAllowList", (blocks) => (blocks === NONE ? [] : list(blocks))],
  "bridge-per-transfer": ["bridgePerTransferAtomic", orNone(usdc)],
  "bridge-per-day": ["bridgePerDayAtomic", orNone(usdc)],
};

/** Names of the options `readGrants` reads. */
export const grantOptionNames: readonly string[] = Object.keys(grantOptions);

/** @throws KeysUsageError when it is missing or empty */
export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === "") throw new KeysUsageError(`${name} is missing`);
  return value;
}

/** The text of an option; undefined when it was not given. */
export function text(values: Values, option: string): string | undefined {
  const value = values[option];
  return typeof value === "string" ? value : undefined;
}

/** A whole number from 0 on. @throws KeysUsageError */
export function integer(digits: string, option: string): number {
  if (/^[0-9]{1,15}$/.test(digits)) return Number(digits);
  throw new KeysUsageError(`${option} must be a whole number`);
}

/** A duration such as `30m`, in ms. @throws KeysUsageError */
export function duration(written: string, option: string): number {
  const [, digits, unit] = /^([0-9]{1,9})([smhd])$/.exec(written) ?? [];
  const unitMs = DURATION_MS[unit ?? ""];
  if (unitMs === undefined) throw new KeysUsageError(`${option} must be a duration such as 30m`);
  return Number(digits) * unitMs;
}

function windowLimit(written: string, option: string): number | null {
  if (written === "default") return null;
  return written === NONE ? UNLIMITED_WINDOW : integer(written, option);
}

function orNone<Value>(read: (text: string, option: string) => Value) {
  return (written: string, option: string) => (written === NONE ? null : read(written, option));
}

function instant(written: string, option: string): number {
  const time = /^\d{4}-\d{2}-\d{2}(T|$)/.test(written) ? Date.parse(written) : Number.NaN;
  if (Number.isNaN(time)) throw new KeysUsageError(`${option} must be an ISO time`);
  return time;
}

function usdc(written: string, option: string): bigint {
  const atomic = parseDecimalAmount(written, USDC_DECIMALS);
  if (atomic !== undefined) return atomic;
  throw new KeysUsageError(`${option} must be an amount of USDC such as 250 or 99.50, above 0`);
}

function list(written: string): string[] {
  return written
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
