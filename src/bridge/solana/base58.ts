import { getBase58Decoder } from "@solana/kit";
import { type Hex, hexToBytes } from "viem";

/** The base58 text of bytes given as hex, such as a 32-byte word of a CCTP message. */
export function base58OfHex(hex: Hex): string {
  return getBase58Decoder().decode(hexToBytes(hex));
}
