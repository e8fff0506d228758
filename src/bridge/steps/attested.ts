import type { Hex } from "viem";
import { decodeMessage } from "../message.ts";
import type { Attested, Transfer } from "../network.ts";

/**
 * The attested message of a transfer's row.
 * @throws Error when it has none
 */
export function attestedOf(transfer: Transfer): Attested {
  const bytes = transfer.message as Hex;
  const message = decodeMessage(bytes);
  if (!message || transfer.attestation === null) throw new Error("the transfer is not attested");
  return { bytes, attestation: transfer.attestation as Hex, message };
}
