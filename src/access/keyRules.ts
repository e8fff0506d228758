import type { KeyChanges, StoredKey } from "../db/index.ts";
import { isBlock } from "./network.ts";
import { type Scope, scopes as knownScopes } from "./operations.ts";

/** Quota of a key without a window limit: the largest a 32-bit client can read, beyond any rate. */
export const UNLIMITED_WINDOW = 2_147_483_647;

const MAX_NAME_LENGTH = 100;
const MAX_BLOCKS = 100;
/** Far above all USDC there is, and what the database can add up. */
const MAX_BRIDGE_ATOMIC = 10n ** 18n;

/** An operator's request that cannot be carried out; the message says why. */
export class KeyError extends Error {
  override readonly name = "KeyError";
}

/** What a key may do and how much; everything about it that can be changed. */
export type KeyGrants = Required<KeyChanges>;

/** What a key has when nothing else is asked for. */
const defaults: Omit<KeyGrants, "scopes"> = {
  name: "",
  windowLimit: null,
  cuAllowance: null,
  expiresAt: null,
  ipAllowList: [],
  bridgePerTransferAtomic: null,
  bridgePerDayAtomic: null,
};

/** The grants of a new key. @throws KeyError */
export function grantsOf(
  input: KeyChanges & Pick<StoredKey, "scopes">,
  now: number,
): KeyGrants & { readonly scopes: readonly Scope[] } {
  const grants = { ...defaults, ...checkChanges(input, now) };
  return { ...grants, scopes: (grants.scopes ?? []).filter(isScope) };
}

/**
 * Checks what is to be set of a key and tidies it: names trimmed, scopes named once.
 * @param now - ms since the epoch
 * @throws KeyError naming what cannot be set
 */
export function checkChanges(changes: KeyChanges, now: number): KeyChanges {
  const { name, scopes, windowLimit, cuAllowance, expiresAt, ipAllowList } = changes;
  checkQuota("window limit", windowLimit, 1, UNLIMITED_WINDOW);
  checkQuota("CU allowance", cuAllowance, 0, Number.MAX_SAFE_INTEGER);
  checkAmount("bridge limit per transfer", changes.bridgePerTransferAtomic);
  checkAmount("bridge limit per day", changes.bridgePerDayAtomic);
  const isDated = expiresAt !== null && expiresAt !== undefined;
  if (isDated && !(Number.isInteger(expiresAt) && expiresAt > now)) {
    throw new KeyError("The expiry must lie in the future");
  }
  if (ipAllowList) checkBlocks(ipAllowList);
  return {
    ...changes,
    ...(name !== undefined && { name: checkedName(name) }),
    ...(scopes && { scopes: checkedScopes(scopes) }),
    ...(ipAllowList && { ipAllowList: [...new Set(ipAllowList)] }),
  };
}

/** Whether a text names a scope of this version. */
export function isScope(name: string): name is Scope {
  return (knownScopes as readonly string[]).includes(name);
}

function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed.length <= MAX_NAME_LENGTH) return trimmed;
  throw new KeyError(`The name must have at most ${MAX_NAME_LENGTH} characters`);
}

function checkedScopes(scopes: readonly string[]): readonly Scope[] {
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    throw new KeyError(`Unknown scope '${unknown}'; there are ${knownScopes.join(", ")}`);
  }
  if (scopes.length === 0) throw new KeyError("A key needs at least one scope");
  return [...new Set(scopes)].filter(isScope);
}

function checkBlocks(blocks: readonly string[]): void {
  if (blocks.length > MAX_BLOCKS) {
    throw new KeyError(`The IP allow-list must have at most ${MAX_BLOCKS} entries`);
  }
  const wrong = blocks.find((block) => !isBlock(block));
  if (wrong === undefined) return;
  throw new KeyError(`'${wrong}' is neither an IP address nor a CIDR block`);
}

function checkQuota(what: string, value: number | null | undefined, min: number, max: number) {
  if (value === null || value === undefined) return;
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new KeyError(`The ${what} must be an integer from ${min} to ${max}`);
}

function checkAmount(what: string, atomic: bigint | null | undefined): void {
  if (atomic === null || atomic === undefined) return;
  if (atomic > 0n && atomic <= MAX_BRIDGE_ATOMIC) return;
  throw new KeyError(`The ${what} must be above 0 and at most 1000000000000 USDC`);
}
