import type { Passage } from "./admission.ts";
import { operations } from "./operations.ts";

/**
 * Charges a 2xx answer and gives back what was held for any other. Resolves when the charge is in
 * the database, so the answer must not leave before.
 * @param status - final status of the answer
 * @param isGone - whether the caller has left, so that there is nobody to be answered
 */
export async function settle(passage: Passage, status: number, isGone: boolean): Promise<void> {
  const { key, operation, items, chainId, access } = passage;
  try {
    if (isGone || !key || operation === undefined || status < 200 || status > 299) return;
    const cu = operations[operation].cu * items;
    if (cu === 0) return;
    await access.meter.charge({ keyId: key.id, operation, chainId, requests: items, cu });
    passage.chargedCu = cu;
  } finally {
    release(passage);
  }
}

/** Settles what was held: what was charged is spent, the rest is free again. */
export function release(passage: Passage): void {
  let unspentCu = passage.chargedCu;
  for (const reservation of passage.reservations.splice(0)) {
    reservation.settle(unspentCu);
    unspentCu = 0;
  }
}

/** Writes the headers every answer carries, and those of authenticated answers. */
export function writeHeaders(passage: Passage, write: (name: string, value: string) => void): void {
  const headers: Record<string, string> = {};
  addHeaders(passage, headers);
  for (const [name, value] of Object.entries(headers)) write(name, value);
}

/**
 * Adds the same headers to an object. Each is added by its name: an object that grows by names in
 * variables is made into a `Response` at twice the cost.
 */
export function addHeaders(passage: Passage, headers: Record<string, string>): void {
  headers["x-request-id"] = passage.requestId;
  const { window, access } = passage;
  if (access.isDraining) headers["connection"] = "close";
  if (!window) return;
  headers["x-ratelimit-limit"] = String(window.limit);
  headers["x-ratelimit-remaining"] = String(window.remaining);
  headers["x-ratelimit-reset"] = String(Math.ceil(window.resetAt / 1000));
  headers["x-cu-cost"] = String(passage.chargedCu);
}
