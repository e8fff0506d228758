import { httpCandidate, serviceTarget, targetOf, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import { withNodeTime } from "../rig/nodeTime.ts";
import { startBareBun, startBareElysia } from "../rig/references.ts";
import type { RunningServer } from "../rig/rig.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import { startNode } from "../rig/upstream.ts";
import type { Bench, Candidate, Scenario } from "../scenario.ts";
import { RPC_EXPECTS, RPC_PATH, settledRequests } from "./rpcRequests.ts";

const load = { clients: 64, figures: throughputFigures };
const CONSTANT = '{"jsonrpc":"2.0","id":1,"result":"0xde0b6b3a7640000"}';

/** Reads of what cannot change, answered from memory. */
export const cached: Scenario = {
  name: "cached",
  title: "JSON-RPC reads answered from the cache, 64 clients",
  async run(bench) {
    return compareCandidates(bench, this, await startCandidates(bench), {
      headline: "requestsPerSecond",
      baselines: ["bare Elysia, constant"],
      notes: ["The bare servers answer a constant without key, window, metering or headers."],
    });
  },
};

async function startCandidates(bench: Bench): Promise<Candidate[]> {
  const { rig, sources, withReferences } = bench;
  const candidates: Candidate[] = [];
  if (withReferences) {
    const reference = (name: string, server: RunningServer) =>
      httpCandidate(bench, name, targetOf(server, settledRequests, RPC_EXPECTS), load, server);
    candidates.push(
      reference("bare Bun.serve, constant", await startBareBun(rig, CONSTANT)),
      reference("bare Elysia, constant", await startBareElysia(rig, CONSTANT)),
    );
  }
  const node = await startNode(rig);
  for (const source of sources) {
    const service = await startService(rig, source, nodesConfig([node.url]));
    const target = serviceTarget(service, settledRequests, RPC_EXPECTS, RPC_PATH);
    const candidate = httpCandidate(bench, service.label, target, load, service);
    candidates.push(withNodeTime(candidate, service, "rpc"));
  }
  return candidates;
}
