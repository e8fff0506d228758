import { type Hex, isAddressEqual, type Log, pad, parseEventLogs } from "viem";
import { messageTransmitterAbi, tokenMessengerAbi } from "../abi.ts";
import type { Attested } from "../network.ts";
import type { CctpNetwork } from "../words.ts";

/**
 * Whether logs of a successful transaction prove that a message was minted: the transmitter
 * received our nonce with our very body, and the messenger minted what the body says.
 */
export function provesMint(
  logs: readonly Log[],
  network: CctpNetwork,
  { message, bytes }: Attested,
): boolean {
  const { body } = message;
  const of = (address: string) =>
    logs.filter((log) => isAddressEqual(log.address, address as Hex)) as Log[];
  const received = parseEventLogs({
    abi: messageTransmitterAbi,
    eventName: "MessageReceived",
    logs: of(network.messageTransmitter),
  });
  const minted = parseEventLogs({
    abi: tokenMessengerAbi,
    eventName: "MintAndWithdraw",
    logs: of(network.tokenMessenger),
  });
  const bodyBytes = `0x${bytes.slice(2 + 2 * HEADER_BYTES)}`.toLowerCase();
  return (
    received.some(
      ({ args }) =>
        args.nonce.toLowerCase() === message.nonce.toLowerCase() &&
        args.sourceDomain === message.sourceDomain &&
        isSameBurn(args.messageBody.toLowerCase(), bodyBytes),
    ) &&
    minted.some(
      ({ args }) =>
        pad(args.mintRecipient).toLowerCase() === body.mintRecipient.toLowerCase() &&
        args.amount + args.feeCollected === body.amount,
    )
  );
}

const HEADER_BYTES = 148;
/** Characters of the members that no re-attestation changes: all before `feeExecuted`. */
const FIXED_CHARACTERS = 2 + 2 * 164;
/** Characters before the hook data. */
const HOOK_CHARACTERS = 2 + 2 * 228;

/** A message that was attested anew differs in fee and expiration only. */
function isSameBurn(a: string, b: string): boolean {
  return (
    a.slice(0, FIXED_CHARACTERS) === b.slice(0, FIXED_CHARACTERS) &&
    a.slice(HOOK_CHARACTERS) === b.slice(HOOK_CHARACTERS)
  );
}
