import type { Hex } from "viem";
import { marketQuotes } from "../feeds.ts";
import { readArtifact } from "./artifacts.ts";
import type { TransactionList } from "./transactions.ts";

/**
 * Deploys a price feed for every asset the local feeds price.
 * @param owner - account of the list, who submits the rounds
 */
export function deployAggregators(list: TransactionList, owner: Hex): Record<string, Hex> {
  return Object.fromEntries(
    Object.keys(marketQuotes).map((symbol) => {
      const description = `${symbol} / USD`;
      const { address } = list.deploy(description, readArtifact("aggregator"), [
        owner,
        description,
      ]);
      return [symbol, address];
    }),
  );
}
