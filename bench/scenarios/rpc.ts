import { httpCandidate, targetOf, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import { startBareBun, startBareElysia } from "../rig/references.ts";
import type { RunningServer } from "../rig/rig.ts";
import type { Bench, Candidate, Scenario } from "../scenario.ts";
import { proxyCandidates } from "./proxies.ts";
import { balanceRequests, RPC_EXPECTS } from "./rpcRequests.ts";

const load = { clients: 64, figures: throughputFigures };
const CONSTANT = '{"jsonrpc":"2.0","id":1,"result":"0xde0b6b3a7640000"}';

/** Pass-through of reads that are never the same. */
export const rpc: Scenario = {
  name: "rpc",
  title: "JSON-RPC pass-through, 64 clients, no two calls the same",
  async run(bench) {
    const candidates = [
      ...(await constants(bench)),
      ...(await proxyCandidates(bench, balanceRequests, load)),
    ];
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: ["nginx", "direct to the node"],
      notes: [
        "The bare servers answer a constant and reach no node: they show what the runtime and the framework leave room for.",
      ],
    });
  },
};

async function constants(bench: Bench): Promise<Candidate[]> {
  if (!bench.withReferences) return [];
  const reference = (name: string, server: RunningServer) =>
    httpCandidate(bench, name, targetOf(server, balanceRequests, RPC_EXPECTS), load, server);
  return [
    reference("bare Bun.serve, constant", await startBareBun(bench.rig, CONSTANT)),
    reference("bare Elysia, constant", await startBareElysia(bench.rig, CONSTANT)),
  ];
}
