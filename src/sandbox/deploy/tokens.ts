import { maxUint256, type Hex } from "viem";
import { readArtifact } from "./artifacts.ts";
import { type TokenSymbol, usdMicros } from "./liquidity.ts";
import type { Contract, TransactionList } from "./transactions.ts";

/** A token of the local chains. */
export interface SandboxToken {
  readonly symbol: TokenSymbol;
  readonly name: string;
  readonly decimals: number;
  readonly contract: Contract;
}

export type SandboxTokens = Readonly<Record<TokenSymbol, SandboxToken>>;

/** What the liquidity provider gets of each token, in US dollars. */
const PROVIDER_USD = 400_000_000;
/** What each user gets of each stablecoin, and of wrapped native, in whole tokens. */
const USER_STABLE = 10_000_000n;
const USER_WETH = 1_000n;

/** Deploys the tokens and mints them to the liquidity provider and the users. */
export function deployTokens(
  list: TransactionList,
  provider: Hex,
  users: readonly Hex[],
): SandboxTokens {
  const stable = (name: "usdc" | "eurc" | "usdt") =>
    list.deploy(name, readArtifact(name), [provider]);
  const tokens: SandboxTokens = {
    USDC: { symbol: "USDC", name: "USD Coin", decimals: 6, contract: stable("usdc") },
    EURC: { symbol: "EURC", name: "Euro Coin", decimals: 18, contract: stable("eurc") },
    USDT: { symbol: "USDT", name: "Tether USD", decimals: 6, contract: stable("usdt") },
    WETH: {
      symbol: "WETH",
      name: "Wrapped Ether",
      decimals: 18,
      contract: list.deploy("weth", readArtifact("weth")),
    },
  };
  for (const { symbol, contract, decimals } of Object.values(tokens)) {
    const unit = 10n ** BigInt(decimals);
    if (symbol === "WETH") {
      const total = atomicOf(tokens.WETH, PROVIDER_USD) + USER_WETH * unit * BigInt(users.length);
      list.call(contract, "deposit", [], total);
      for (const user of users) list.call(contract, "transfer", [user, USER_WETH * unit]);
    } else {
      list.call(contract, "configureMinter", [provider, maxUint256]);
      list.call(contract, "mint", [provider, atomicOf(tokens[symbol], PROVIDER_USD)]);
      for (const user of users) list.call(contract, "mint", [user, USER_STABLE * unit]);
    }
  }
  return tokens;
}

/** Lets `spender` take every token from the liquidity provider. */
export function approveAll(list: TransactionList, tokens: SandboxTokens, spender: Hex): void {
  for (const { contract } of Object.values(tokens)) {
    list.call(contract, "approve", [spender, maxUint256]);
  }
}

/**
 * Atomic units worth `usd` at the market price.
 * @param discountBps - how much cheaper the token is, which makes it more units
 */
export function atomicOf(
  { symbol, decimals }: SandboxToken,
  usd: number,
  discountBps: number = 0,
): bigint {
  const micros = BigInt(usd) * 1_000_000n * 10n ** BigInt(decimals) * 10_000n;
  return micros / (usdMicros[symbol] * BigInt(10_000 - discountBps));
}
