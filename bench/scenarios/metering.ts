import { httpCandidate, serviceTarget, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { RequestTemplate } from "../load/request.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import type { Candidate, Scenario } from "../scenario.ts";

const load = { clients: 64, figures: throughputFigures };
const requests: readonly RequestTemplate[] = [
  { method: "GET", path: "/api/public/swap/dexes", headers: {}, weight: 1 },
];
const UNMETERED = "charges not written";

/** What it costs that no answer leaves before its charge is in the database's log. */
export const metering: Scenario = {
  name: "metering",
  title: "a fixed answer, with and without the charge's commit, 64 clients",
  async run(bench) {
    const candidates: Candidate[] = [];
    for (const source of bench.sources) {
      for (const script of ["src/main.ts", "bench/servers/unmeteredService.ts"]) {
        const isMetered = script === "src/main.ts";
        if (!isMetered && !bench.withReferences) continue;
        const service = await startService(bench.rig, source, nodesConfig([]), { script });
        const name = isMetered ? service.label : UNMETERED;
        const target = serviceTarget(service, requests, '"success":true');
        candidates.push(httpCandidate(bench, name, target, load, service));
      }
    }
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: [UNMETERED],
      notes: ["The fixed answer is the cheapest there is, so the share is the largest there is."],
    });
  },
};
