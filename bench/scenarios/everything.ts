import { httpCandidate, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";

import type { Scenario } from "../scenario.ts";
import { BUSY_MIX, withBusyServices } from "./busyServices.ts";

/** All operations at the same time, on one service. */
export const everything: Scenario = {
  name: "everything",
  title: "calls, quotes, prices, balances and transactions at once, 64 clients",
  run: (bench) =>
    withBusyServices(bench.rig, bench.sources, (services) => {
      const load = { clients: 64, figures: throughputFigures };
      const candidates = services.map(({ service, target }) =>
        httpCandidate(bench, service.label, target, load, service),
      );
      return compareCandidates(bench, everything, candidates, {
        headline: "requestsPerSecond",
        baselines: [],
        notes: [BUSY_MIX],
      });
    }),
};
