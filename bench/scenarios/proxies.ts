import type { UpstreamData } from "../../src/config/index.ts";
import { httpCandidate, type LoadOptions, serviceTarget, targetOf } from "../candidates.ts";
import type { RequestTemplate } from "../load/request.ts";
import { startFetchProxy, startNginx } from "../rig/references.ts";
import type { RunningServer } from "../rig/rig.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import { startNode } from "../rig/upstream.ts";
import type { Bench, Candidate } from "../scenario.ts";
import { RPC_EXPECTS, RPC_PATH } from "./rpcRequests.ts";

/**
 * Everything that can stand before one scripted node, and the node itself, under one load.
 * @param upstream - what the service's entry for the node says beside its URL
 */
export async function proxyCandidates(
  bench: Bench,
  requests: readonly RequestTemplate[],
  load: LoadOptions,
  upstream: Omit<UpstreamData, "url"> = {},
): Promise<Candidate[]> {
  const { rig, sources } = bench;
  const node = await startNode(rig);
  const candidates: Candidate[] = [];
  for (const source of sources) {
    const service = await startService(rig, source, nodesConfig([node.url], upstream));
    const target = serviceTarget(service, requests, RPC_EXPECTS, RPC_PATH);
    candidates.push(httpCandidate(bench, service.label, target, load, service));
  }
  if (!bench.withReferences) return candidates;
  const direct = targetOf({ hostname: "127.0.0.1", port: node.port }, requests, RPC_EXPECTS);
  const nginx = await startNginx(rig, node.port);
  const viaFetch = await startFetchProxy(rig, node.url);
  const reference = (name: string, server: RunningServer) =>
    httpCandidate(bench, name, targetOf(server, requests, RPC_EXPECTS), load, server);
  return [
    httpCandidate(bench, "direct to the node", direct, load),
    ...(nginx ? [reference("nginx", nginx)] : []),
    reference("bare Bun proxy", viaFetch),
    ...candidates,
  ];
}
