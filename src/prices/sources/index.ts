import { bitstamp } from "./bitstamp.ts";
import { chainlink } from "./chainlink.ts";
import { coinbase } from "./coinbase.ts";
import { coingecko } from "./coingecko.ts";
import { defillama } from "./defillama.ts";
import { kraken } from "./kraken.ts";
import { pyth } from "./pyth.ts";
import type { SourceFactory } from "./source.ts";

/** Every source there is; a new one is an entry here. */
export const sourceFactories: readonly SourceFactory[] = [
  coingecko,
  coinbase,
  kraken,
  chainlink,
  bitstamp,
  defillama,
  pyth,
];
