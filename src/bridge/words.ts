import { bytesToHex, type Hex, hexToBytes, isAddress, padHex } from "viem";
import { type Chain, findToken } from "../chains/index.ts";
import { decodeBase58, encodeBase58 } from "../lib/base58.ts";

/**
 * An address as CCTP messages carry it: 32 bytes, EVM addresses padded on the left.
 * @throws Error when the text is no address of this kind of network
 */
export function addressWord(kind: Chain["kind"], address: string): Hex {
  if (kind === "evm" && isAddress(address, { strict: false })) {
    return padHex(address.toLowerCase() as Hex, { size: 32 });
  }
  const bytes = kind === "solana" ? decodeBase58(address) : undefined;
  if (bytes?.length !== 32) throw new Error(`${address} is not an address of kind ${kind}`);
  return bytesToHex(bytes);
}

/** The Solana address a 32-byte word of a CCTP message stands for. */
export function solanaAddressOf(word: Hex): string {
  return encodeBase58(hexToBytes(word));
}

/** CCTP's contracts and USDC on one network, in the network's own address form. */
export interface CctpNetwork {
  readonly chain: Chain;
  readonly domain: number;
  readonly tokenMessenger: string;
  readonly messageTransmitter: string;
  readonly usdc: string;
  /** Solana: address lookup table of what mints name. */
  readonly lookupTable?: string;
}

/** @throws Error when the network has no CCTP or no USDC, which the plan has checked */
export function cctpOf(chain: Chain): CctpNetwork {
  const usdc = findToken(chain, "USDC");
  if (!chain.cctp || !usdc) throw new Error(`${chain.name} has no CCTP`);
  return { chain, ...chain.cctp, usdc: usdc.address };
}
