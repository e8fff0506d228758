import { concat, type Hex, numberToHex, padHex, stringToHex } from "viem";

/** Marks a burn for Circle's forwarding service: ASCII, zero-padded to 24 bytes. */
const MAGIC = padHex(stringToHex("cctp-forward"), { size: 24, dir: "right" });
const VERSION = 0;
/** Asks the forwarder to make the recipient's token account where it is missing. */
const CREATE_TOKEN_ACCOUNT = "0x01";

/** Hook data of a burn the forwarder mints on an EVM network: the bare frame, 32 bytes. */
export function evmForwardHook(): Hex {
  return frame("0x");
}

/**
 * Hook data of a burn the forwarder mints on Solana, 65 bytes.
 * @param owner - the recipient's wallet, 32 bytes; never its token account
 */
export function solanaForwardHook(owner: Hex): Hex {
  return frame(concat([CREATE_TOKEN_ACCOUNT, owner]));
}

function frame(payload: Hex): Hex {
  const length = (payload.length - 2) / 2;
  return concat([
    MAGIC,
    numberToHex(VERSION, { size: 4 }),
    numberToHex(length, { size: 4 }),
    payload,
  ]);
}
