import { createHmac, createPrivateKey, createPublicKey, pbkdf2Sync } from "node:crypto";
import { type Address, address, getBase58Decoder } from "@solana/kit";

/** A funded Solana account and its key. */
export interface SolanaWallet {
  readonly address: Address;
  /** Base58 of the 64 bytes wallets import: the private key, then the public one. */
  readonly secretKey: string;
}

const HARDENED = 0x8000_0000;
/** Solana's coin type (SLIP-0044). */
const COIN_TYPE = 501;
/** What precedes the 32 key bytes in PKCS #8 (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_KEY_BYTES = 32;

/**
 * The account wallets derive from a phrase at `m/44'/501'/index'/0'` (BIP-39 without a password,
 * then SLIP-0010 over ed25519).
 */
export function deriveSolanaWallet(mnemonic: string, index: number): SolanaWallet {
  const seed = pbkdf2Sync(mnemonic.normalize("NFKD"), "mnemonic", 2_048, 64, "sha512");
  let node = createHmac("sha512", "ed25519 seed").update(seed).digest();
  for (const step of [44, COIN_TYPE, index, 0]) {
    const position = Buffer.alloc(4);
    position.writeUInt32BE(HARDENED + step);
    const child = createHmac("sha512", node.subarray(32));
    node = child.update(Buffer.concat([Buffer.of(0), node.subarray(0, 32), position])).digest();
  }
  const privateKey = node.subarray(0, 32);
  const publicKey = publicKeyOf(privateKey);
  const base58 = getBase58Decoder();
  return {
    address: address(base58.decode(publicKey)),
    secretKey: base58.decode(Buffer.concat([privateKey, publicKey])),
  };
}

function publicKeyOf(privateKey: Buffer): Buffer {
  const key = Buffer.concat([PKCS8_PREFIX, privateKey]);
  const pair = createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs8" }));
  return pair.export({ format: "der", type: "spki" }).subarray(-PUBLIC_KEY_BYTES);
}
