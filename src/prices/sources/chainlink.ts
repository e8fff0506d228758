import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from "viem";
import { member } from "../../lib/exactJson.ts";
import { formatDecimalAmount } from "../../lib/amounts.ts";
import type { Aggregator } from "../assets.ts";
import { parseUsd } from "../usd.ts";
import {
  namesOf,
  type Question,
  type Reading,
  type SourceFactory,
  type SourceSetup,
} from "./source.ts";

const abi = parseAbi([
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);
const latestRoundData = encodeFunctionData({ abi, functionName: "latestRoundData" });
/** A round may come a tenth later than promised before it counts as missing. */
const HEARTBEAT_MS = 1_100;

/**
 * Reads a Chainlink aggregator's latest round.
 * @param data - what `latestRoundData()` returned
 * @throws when the round has no answer or the data is of another shape
 */
export function parseRound(asset: string, aggregator: Aggregator, data: Hex): Reading {
  const round = decodeFunctionResult({ abi, functionName: "latestRoundData", data });
  const [roundId, answer, , updatedAt] = round;
  if (roundId === 0n || answer <= 0n || updatedAt === 0n) throw new RangeError("round is not over");
  const atMs = Number(updatedAt) * 1_000;
  if (!Number.isSafeInteger(atMs)) throw new RangeError("round is not dated");
  return {
    asset,
    price: parseUsd(formatDecimalAmount(answer, aggregator.decimals)),
    atMs,
    maxAgeMs: aggregator.heartbeatSeconds * HEARTBEAT_MS,
  };
}

/** Chainlink's feeds, read from their contracts over the service's own upstreams. */
export const chainlink: SourceFactory = ({ assets, chains, chainIds }) => {
  const feeds = namesOf(assets, ({ chainlink: aggregator }) =>
    aggregator && chainIds.has(aggregator.chainId) ? aggregator : undefined,
  );
  if (feeds.size === 0) return undefined;
  return {
    id: "chainlink",
    kind: "oracle",
    timeoutMs: 3_000,
    questions: [...feeds].map(([symbol, aggregator]) => readRound(chains, symbol, aggregator)),
  };
};

function readRound(
  chains: SourceSetup["chains"],
  symbol: string,
  aggregator: Aggregator,
): Question {
  const call = { to: aggregator.address, data: latestRoundData };
  const params = JSON.stringify([call, "latest"]);
  return async ({ timeoutMs }) => {
    const reply = await chains.call(
      aggregator.chainId,
      { method: "eth_call", params },
      { deadlineMs: timeoutMs, signal: AbortSignal.timeout(timeoutMs) },
    );
    const result = member(JSON.parse(new TextDecoder().decode(reply.bytes)), "result");
    if (typeof result !== "string") throw new TypeError("the feed's contract did not answer");
    return [parseRound(symbol, aggregator, result as Hex)];
  };
}
