import { httpCandidate, serviceTarget } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import { type NodeScript, startNodes } from "../rig/upstream.ts";
import type { Candidate, Scenario } from "../scenario.ts";
import { balanceRequests, RPC_EXPECTS, RPC_PATH } from "./rpcRequests.ts";

const RATE = 1_000;

const conditions: readonly { readonly name: string; readonly sick: NodeScript }[] = [
  { name: "all three healthy", sick: {} },
  { name: "one 300 ms slower", sick: { delayMs: 300 } },
  { name: "one fails every second call", sick: { errorShare: 0.5 } },
  { name: "one never answers", sick: { hangs: true } },
];

/** What callers notice of one sick node among three. */
export const sick: Scenario = {
  name: "sick",
  title: `one sick node of three, ${RATE} calls per second (open loop)`,
  async run(bench) {
    const candidates: Candidate[] = [];
    for (const source of bench.sources) {
      for (const condition of conditions) {
        const nodes = await startNodes(bench.rig, [{}, {}, condition.sick]);
        const urls = nodes.map(({ url }) => url);
        const service = await startService(bench.rig, source, nodesConfig(urls));
        const target = serviceTarget(service, balanceRequests, RPC_EXPECTS, RPC_PATH);
        const name = `${service.label}, ${condition.name}`;
        candidates.push(
          httpCandidate(bench, name, target, {
            clients: 256,
            rate: RATE,
            figures: ["p99Ms", "p50Ms", "p999Ms", "maxMs", "failures"],
          }),
        );
      }
    }
    return compareCandidates(bench, this, candidates, {
      headline: "p99Ms",
      baselines: [],
      notes: ["The warm-up includes the calls by which the sick node is found out."],
    });
  },
};
