/** What is asked of a wallet once the network's defaults are filled in. */
export interface BalanceQuery {
  readonly address: string;
  /** Token contract or mint; undefined: the native asset. */
  readonly tokenAddress: string | undefined;
}

/** A balance in atomic units, with the decimals to write it with. */
export interface Balance {
  readonly amountAtomic: bigint;
  readonly decimals: number;
}
