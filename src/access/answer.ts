import { fieldPairs, type PlainAnswer } from "../lib/http.ts";
import { noteFailure, type Passage } from "./admission.ts";
import type { ChargeTarget } from "./meter.ts";
import { operations } from "./operations.ts";

/**
 * Charges a 2xx answer and gives back what was held for any other. The answer must not leave before
 * the target is told, which is when the charge is in the database.
 * @param status - final status of the answer
 * @param isGone - whether the caller has left, so that there is nobody to be answered
 */
export function settle(
  passage: Passage,
  status: number,
  isGone: boolean,
  target: ChargeTarget,
): void {
  const { key, operation, items, chainId, access } = passage;
  const cu = operation === undefined ? 0 : operations[operation].cu * items;
  const isCharged = !isGone && key && operation !== undefined && status >= 200 && status <= 299;
  if (!isCharged || cu === 0) {
    passage.release();
    return target.charged(undefined);
  }
  passage.awaitCharge(cu, target);
  access.meter.enter({ keyId: key.id, operation, chainId, requests: items, cu }, passage);
}

/** `settle` to be awaited; rejects when the charge could not be written. */
export function settled(passage: Passage, status: number, isGone: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const charged = (error: unknown) => (error === undefined ? resolve() : reject(error));
    settle(passage, status, isGone, { charged });
  });
}

/** Notes a settled answer and adds the fields it carries. */
export function conclude(passage: Passage, answer: PlainAnswer, message?: string): void {
  const { status, errorCode } = answer;
  passage.observe(status);
  if (errorCode) noteFailure(passage, { status, code: errorCode, ...(message && { message }) });
  answer.more = passage;
}

/** Writes the headers every answer carries, and those of authenticated answers. */
export function writeHeaders(passage: Passage, write: (name: string, value: string) => void): void {
  for (const [name, value] of fieldPairs({ more: passage })) write(name, value);
}
