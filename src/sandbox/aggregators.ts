import { encodeFunctionData, type Hex } from "viem";
import { testAggregatorV3Abi } from "./contracts/abi/testAggregatorV3.ts";
import { waitUntilMined } from "./deploy/transactions.ts";
import { marketQuotes } from "./feeds.ts";
import type { NodeRpc } from "./rpc.ts";

/** Chainlink stand-ins on one chain, kept up to date. */
export interface AggregatorFeed {
  /** Submits a round to each and waits until they are mined; other prices than the market's where given, in USD. */
  submit(quotes?: Readonly<Record<string, number>>, at?: Date): Promise<void>;
  stop(): void;
}

export interface AggregatorFeedOptions {
  readonly rpc: NodeRpc;
  /** Owner of the contracts, whom the node holds unlocked. */
  readonly owner: Hex;
  /** Contracts by symbol. */
  readonly aggregators: Readonly<Record<string, Hex>>;
}

/** Rounds are submitted at this pace. */
export const ROUND_SECONDS = 60;
const DECIMALS = 8;

/** Submits a round at once and one every minute. */
export async function startAggregatorFeed(options: AggregatorFeedOptions): Promise<AggregatorFeed> {
  const submit = async (
    quotes: Readonly<Record<string, number>> = marketQuotes,
    at: Date = new Date(),
  ) => {
    let last: unknown;
    for (const [symbol, to] of Object.entries(options.aggregators)) {
      const answer = BigInt(Math.round((quotes[symbol] ?? 0) * 10 ** DECIMALS));
      const updatedAt = BigInt(Math.floor(at.getTime() / 1_000));
      const data = encodeFunctionData({
        abi: testAggregatorV3Abi,
        functionName: "submit",
        args: [answer, updatedAt],
      });
      last = await options.rpc.call("eth_sendTransaction", [{ from: options.owner, to, data }]);
    }
    await waitUntilMined(options.rpc, last);
  };
  await submit();
  const timer = setInterval(() => void submit().catch(console.error), ROUND_SECONDS * 1_000);
  timer.unref();
  return { submit, stop: () => clearInterval(timer) };
}
