import { coinbase } from "./coinbase.ts";
import { coingecko } from "./coingecko.ts";
import { kraken } from "./kraken.ts";
import type { PriceSource } from "./source.ts";

/** Every source that is asked; a new one is an entry here. */
export const priceSources: readonly PriceSource[] = [coingecko, coinbase, kraken];
