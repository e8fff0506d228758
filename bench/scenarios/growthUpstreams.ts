import { httpCandidate, serviceTarget, throughputFigures } from "../candidates.ts";
import { compareSizes, type Size } from "../growth.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import { startNodes } from "../rig/upstream.ts";
import type { Scenario } from "../scenario.ts";
import { balanceRequests, RPC_EXPECTS, RPC_PATH } from "./rpcRequests.ts";

const COUNTS = [1, 3, 10, 30, 100];

/** Throughput of calls against the number of nodes a chain has. */
export const growthUpstreams: Scenario = {
  name: "growth-upstreams",
  title: "JSON-RPC pass-through over equal nodes, 64 clients",
  async run(bench) {
    const [source] = bench.sources;
    if (!source) throw new Error("a scenario needs a source");
    const load = { clients: 64, figures: throughputFigures };
    const sizes: Size[] = [];
    for (const count of COUNTS) {
      const nodes = await startNodes(
        bench.rig,
        Array.from({ length: count }, () => ({})),
      );
      const urls = nodes.map(({ url }) => url);
      const service = await startService(bench.rig, source, nodesConfig(urls));
      const target = serviceTarget(service, balanceRequests, RPC_EXPECTS, RPC_PATH);
      sizes.push({ count, measured: httpCandidate(bench, source.label, target, load, service) });
    }
    return compareSizes(bench, this, "nodes", sizes, [
      "The nodes of a size share one process; the service watches the head of each.",
    ]);
  },
};
