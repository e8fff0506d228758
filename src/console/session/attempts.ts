import ipaddr from "ipaddr.js";
import type { SignInStore } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { ApiError } from "../../lib/errors.ts";

const WINDOW_MS = 15 * 60_000;

/** Most of each in a window. A wallet's bound is the higher one: strangers can use it up. */
const limits = {
  /** Messages asked for, by address. */
  challenge: 60,
  /** Failed sign-ins, by address. */
  ip: 10,
  /** Failed sign-ins, by wallet. */
  wallet: 30,
  /** Wrong admin tokens of scripts, by address; right ones under way count too. */
  token: 100,
} as const;

/** What attempts are counted by. */
export type AttemptKind = keyof typeof limits;

/** Bounds how often signing in can be tried. */
export interface Attempts {
  /**
   * Counts an attempt before it is made, so that any number at once stay within the bound.
   * @returns takes the attempt back, because it succeeded
   * @throws ApiError `TOO_MANY_SIGN_INS`
   */
  count(kind: AttemptKind, subject: string): Promise<() => Promise<void>>;
}

/** Counts attempts in the database, so that all processes on it share the bounds. */
export function createAttempts(store: SignInStore, clock: Clock): Attempts {
  return {
    async count(kind, subject) {
      const add = async (by: number) =>
        store.countAttempts(`${kind}:${subject}`, by, clock.now(), WINDOW_MS);
      if ((await add(1)) > limits[kind]) {
        const seconds = String(WINDOW_MS / 1000);
        throw new ApiError("TOO_MANY_SIGN_INS", undefined, { "retry-after": seconds });
      }
      return async () => void (await add(-1));
    },
  };
}

const IPV6_SITE_PARTS = 4;

/** What one caller's attempts are counted under: its address, in IPv6 its /64. */
export function callerSubject(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const site = parsed.parts.slice(0, IPV6_SITE_PARTS).map((part) => part.toString(16));
  return `${site.join(":")}::/64`;
}
