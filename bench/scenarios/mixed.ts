import { throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { Scenario } from "../scenario.ts";
import { proxyCandidates } from "./proxies.ts";
import { mixedRequests } from "./rpcRequests.ts";

/** The traffic of wallets and front ends. */
export const mixed: Scenario = {
  name: "mixed",
  title: "JSON-RPC in a realistic mix of ten methods, 64 clients",
  async run(bench) {
    const candidates = await proxyCandidates(bench, mixedRequests, {
      clients: 64,
      figures: throughputFigures,
    });
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: ["nginx", "direct to the node"],
    });
  },
};
