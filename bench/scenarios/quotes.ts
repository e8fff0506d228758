import { httpCandidate, serviceTarget, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { RequestTemplate } from "../load/request.ts";
import { startChain } from "../rig/chain.ts";
import { withNodeTime } from "../rig/nodeTime.ts";
import { startService } from "../rig/service.ts";
import type { Candidate, Scenario } from "../scenario.ts";

const PAIRS = [
  ["USDC", "EURC"],
  ["EURC", "USDC"],
  ["USDC", "USDT"],
] as const;

/** Swap quotes on real pools, amounts varied. */
export const quotes: Scenario = {
  name: "quotes",
  title: "swap quotes over real v2 and v3 pools, 32 clients, amounts varied",
  async run(bench) {
    const { config } = await startChain(bench.rig);
    const candidates: Candidate[] = [];
    for (const source of bench.sources) {
      const service = await startService(bench.rig, source, config);
      const target = serviceTarget(service, PAIRS.map(quoteRequest), '"success":true');
      const load = { clients: 32, figures: throughputFigures };
      const candidate = httpCandidate(bench, service.label, target, load, service);
      candidates.push(withNodeTime(candidate, service, "quote"));
    }
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: [],
      notes: [
        "nodeShareOfTime above 1 means that node calls of one quote run side by side. The node is a local anvil, far slower at calls than it looks: where it is asked, it is the limit.",
      ],
    });
  },
};

function quoteRequest([inputToken, outputToken]: readonly [string, string]): RequestTemplate {
  return {
    method: "POST",
    path: "/api/public/swap/quote",
    headers: {},
    body: `{"inputToken":"${inputToken}","outputToken":"${outputToken}","inputAmount":"@ID@@NUMBER@","chainId":5042}`,
    weight: 1,
  };
}
