import { bytesToHex, type Hex } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { deriveSolanaWallet, type SolanaWallet } from "./solana/keys.ts";

/** Local development only: everyone knows the keys of this phrase. */
export const MNEMONIC = "test test test test test test test test test test test junk";

/** A funded account and its private key. */
export interface Wallet {
  readonly address: Hex;
  readonly privateKey: Hex;
}

/** A user, with an account on the EVM chains and one on Solana. */
export interface UserWallet extends Wallet {
  readonly solana: SolanaWallet;
}

const WALLETS = 5;

/** Who acts on the local chains; the nodes hold the same keys unlocked. */
export interface SandboxAccounts {
  /** Deploys the contracts and provides the liquidity. */
  readonly deployer: Wallet;
  /** The service's signer of bridge transfers. */
  readonly operator: Wallet;
  /** Receives platform fees. */
  readonly feeRecipient: Wallet;
  /** Users, funded with native and every token on every chain. */
  readonly wallets: readonly UserWallet[];
  readonly solana: {
    /** Gives SOL away and may mint the tokens. */
    readonly faucet: SolanaWallet;
    /** The service's signer of bridge transfers. */
    readonly operator: SolanaWallet;
  };
}

/**
 * Derives the accounts at `m/44'/60'/0'/0/i` and, for Solana, `m/44'/501'/i'/0'`: deployer or faucet,
 * operator, fee recipient, then the users.
 */
export function sandboxAccounts(): SandboxAccounts {
  const [deployer, operator, feeRecipient] = [walletAt(0), walletAt(1), walletAt(2)];
  const wallets = Array.from({ length: WALLETS }, (_, index) => ({
    ...walletAt(3 + index),
    solana: deriveSolanaWallet(MNEMONIC, 3 + index),
  }));
  const solana = {
    faucet: deriveSolanaWallet(MNEMONIC, 0),
    operator: deriveSolanaWallet(MNEMONIC, 1),
  };
  return { deployer, operator, feeRecipient, wallets, solana };
}

function walletAt(addressIndex: number): Wallet {
  const account = mnemonicToAccount(MNEMONIC, { addressIndex });
  const privateKey = account.getHdKey().privateKey;
  if (!privateKey) throw new Error(`no private key at index ${addressIndex}`);
  return { address: account.address, privateKey: bytesToHex(privateKey) };
}
