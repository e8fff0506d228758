import { compareCandidates } from "../compareCandidates.ts";
import type { Scenario } from "../scenario.ts";
import { proxyCandidates } from "./proxies.ts";
import { largeRequests } from "./rpcRequests.ts";

/** Bandwidth of answers of 1 MB. */
export const large: Scenario = {
  name: "large",
  title: "JSON-RPC answers of 1 MB, 8 clients",
  async run(bench) {
    const candidates = await proxyCandidates(bench, largeRequests, {
      clients: 8,
      figures: ["megabytesPerSecond", "p50Ms", "p99Ms", "failures"],
    });
    return compareCandidates(bench, this, candidates, {
      headline: "megabytesPerSecond",
      baselines: ["nginx", "direct to the node"],
    });
  },
};
