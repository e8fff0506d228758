import { bytesToHex, type Hex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { MNEMONIC, type Wallet } from "../accounts.ts";

/** Who acts for the local attestation service; derived behind the sandbox's own accounts. */
export interface CctpAccounts {
  /** Sign messages; ascending by address, as attestations have them. */
  readonly attesters: readonly Wallet[];
  /** Mints for the forwarding service; funded by the nodes. */
  readonly forwarder: Wallet;
  /** A stranger who mints other people's messages; funded by the nodes. */
  readonly stranger: Wallet;
  /** Receives the fees of mints. */
  readonly feeRecipient: Hex;
}

/** Attestations carry as many signatures. */
export const SIGNATURE_THRESHOLD = 2;

/** Derives the accounts at `m/44'/60'/0'/0/i`; the nodes fund the first ten. */
export function cctpAccounts(): CctpAccounts {
  const attesters = [walletAt(20), walletAt(21)];
  return {
    attesters: attesters.sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1)),
    forwarder: walletAt(8),
    stranger: walletAt(9),
    feeRecipient: walletAt(22).address,
  };
}

function walletAt(addressIndex: number): Wallet {
  const account = mnemonicToAccount(MNEMONIC, { addressIndex });
  const privateKey = account.getHdKey().privateKey;
  if (!privateKey) throw new Error(`no private key at index ${addressIndex}`);
  return { address: account.address, privateKey: bytesToHex(privateKey) };
}
