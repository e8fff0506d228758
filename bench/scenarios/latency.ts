import { compareCandidates } from "../compareCandidates.ts";
import type { Scenario } from "../scenario.ts";
import { proxyCandidates } from "./proxies.ts";
import { balanceRequests } from "./rpcRequests.ts";

const RATE = 1_000;

/** What the service adds to a call's latency at a rate it can easily serve. */
export const latency: Scenario = {
  name: "latency",
  title: `latency of JSON-RPC calls arriving at ${RATE} per second (open loop)`,
  async run(bench) {
    const candidates = await proxyCandidates(bench, balanceRequests, {
      clients: 64,
      rate: RATE,
      figures: ["p50Ms", "p90Ms", "p99Ms", "p999Ms", "failures"],
    });
    const result = await compareCandidates(bench, this, candidates, {
      headline: "p50Ms",
      baselines: ["direct to the node"],
    });
    const direct = result.rows.find(({ name }) => name === result.baseline);
    const added = result.rows
      .filter((row) => row !== direct && direct)
      .map((row) => {
        const [p50, p99] = ["p50Ms", "p99Ms"].map(
          (figure) =>
            (row.figures[figure]?.median ?? Number.NaN) -
            (direct?.figures[figure]?.median ?? Number.NaN),
        );
        return `${row.name} adds ${p50?.toFixed(3)} ms at p50 and ${p99?.toFixed(3)} ms at p99.`;
      });
    return { ...result, notes: [...added, "A latency runs from the time the request was due."] };
  },
};
