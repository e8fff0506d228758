import type { UpstreamData } from "../config/index.ts";
import { Pace } from "./limits.ts";
import { isKeyLike } from "./secrets.ts";

/** Second-level labels under which names are registered, as in `example.co.uk`. */
const PUBLIC_SECOND_LEVELS: ReadonlySet<string> = new Set([
  "ac",
  "co",
  "com",
  "edu",
  "gov",
  "net",
  "ne",
  "or",
  "org",
]);

/** Pace objects of declared accounts and of vendors that are kept; accounts are configured by hand. */
const MAX_ACCOUNTS = 10_000;

/**
 * Holds all accounts that are likely one: the same vendor's, opened with the same key. One refusal
 * says little, as limits may be per URL; when a second URL is held at the same time, all are.
 */
export class VendorHold {
  #heldUntilMs = 0;
  readonly #held = new Map<object, number>();

  /** When the hold of all ends, monotonic ms; 0 while there is none. */
  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** Notes that one account is held. */
  note(account: object, untilMs: number, nowMs: number): void {
    for (const [other, otherUntilMs] of this.#held) {
      if (otherUntilMs <= nowMs) this.#held.delete(other);
    }
    this.#held.set(account, untilMs);
    // Each keeps to its own hold; the others wait as long as the shorter one.
    if (this.#held.size >= 2) this.#heldUntilMs = Math.min(...this.#held.values());
  }

  /** Notes that an account was accepted again, which is as good for the others. */
  release(account: object): void {
    this.#held.delete(account);
    this.#heldUntilMs = 0;
  }
}

/** The paces of all accounts, across chains: one key of a vendor often serves many of them. */
export class Accounts {
  readonly #declared = new Map<string, Pace>();
  readonly #vendors = new Map<string, VendorHold>();

  /** The pace an upstream keeps to. */
  paceOf({ url, account, requestsPerSecond }: UpstreamData): Pace {
    const vendor = this.#vendorOf(vendorKey(new URL(url)));
    if (account === undefined) return new Pace({ perSecond: requestsPerSecond, vendor });
    const known = this.#declared.get(account);
    if (known) {
      known.declare(requestsPerSecond);
      return known;
    }
    const pace = new Pace({ perSecond: requestsPerSecond });
    if (this.#declared.size < MAX_ACCOUNTS) this.#declared.set(account, pace);
    return pace;
  }

  #vendorOf(key: string): VendorHold | undefined {
    const known = this.#vendors.get(key);
    if (known || this.#vendors.size >= MAX_ACCOUNTS) return known;
    const vendor = new VendorHold();
    this.#vendors.set(key, vendor);
    return vendor;
  }
}

/**
 * What two URLs of one vendor account have in common: the registrable domain and the key in the
 * path or query. An address, or a name without dots, is a vendor of its own.
 */
export function vendorKey(url: URL): string {
  const parts = [...url.pathname.split("/"), ...url.searchParams.values(), url.password];
  const key = parts.find(isKeyLike) ?? "";
  return `${registrableDomain(url)} ${key}`;
}

function registrableDomain({ hostname, host }: URL): string {
  const labels = hostname.replace(/\.$/, "").split(".");
  const isAddress = hostname.startsWith("[") || /^\d+$/.test(labels.at(-1) ?? "");
  if (isAddress || labels.length < 2) return host;
  const isDeep = labels.at(-1)?.length === 2 && PUBLIC_SECOND_LEVELS.has(labels.at(-2) ?? "");
  return labels.slice(isDeep ? -3 : -2).join(".");
}
