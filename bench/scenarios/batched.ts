import { throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { Scenario } from "../scenario.ts";
import { proxyCandidates } from "./proxies.ts";
import { balanceRequests } from "./rpcRequests.ts";

/** Most calls that are sent to the node as one array. */
const MAX_ITEMS = 100;

/** Pass-through where the calls of one moment reach the node together. */
export const batched: Scenario = {
  name: "batched",
  title: "JSON-RPC pass-through, calls of one moment sent to the node as one batch, 64 clients",
  async run(bench) {
    const load = { clients: 64, figures: throughputFigures };
    const batch = { maxItems: MAX_ITEMS };
    const candidates = await proxyCandidates(bench, balanceRequests, load, { batch });
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: ["nginx", "direct to the node"],
      notes: ["Only the service sends batches; the others pass each call on by itself."],
    });
  },
};
