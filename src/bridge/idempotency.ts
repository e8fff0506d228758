import { createHash } from "node:crypto";
import { ApiError } from "../lib/errors.ts";
import type { BridgeRequest } from "./model.ts";
import type { TransferPlan } from "./plan.ts";

/** Longest `Idempotency-Key`, in characters. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/**
 * Reads an `Idempotency-Key` header.
 * @returns undefined when there is none
 * @throws ApiError `INVALID_FIELD`
 */
export function readIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined;
  if (header.length === 0 || header.length > MAX_IDEMPOTENCY_KEY_LENGTH) {
    throw new ApiError("INVALID_FIELD", "Invalid field: Idempotency-Key (1 to 255 characters)");
  }
  return header;
}

/** A hash over what a request means, so that spelling an amount otherwise is no other request. */
export function requestHash(plan: TransferPlan, { authorization }: BridgeRequest): string {
  const meaning = [
    plan.from.id,
    plan.to.id,
    plan.amountAtomic.toString(),
    plan.recipient,
    plan.sender ?? null,
    plan.useForwarder,
    authorization
      ? [
          authorization.validAfter,
          authorization.validBefore,
          authorization.salt.toLowerCase(),
          authorization.signature.toLowerCase(),
        ]
      : null,
  ];
  return createHash("sha256").update(JSON.stringify(meaning)).digest("hex");
}
