import { httpCandidate, serviceTarget, targetOf, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { RequestTemplate } from "../load/request.ts";
import { startNginx } from "../rig/references.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import { startNode } from "../rig/upstream.ts";
import type { Candidate, Scenario } from "../scenario.ts";
import { balanceRequests, RPC_EXPECTS } from "./rpcRequests.ts";

/** Wallet balances, each for another wallet, so each is one call to the node. */
export const balances: Scenario = {
  name: "balances",
  title: "wallet balances, token and native, 64 clients, no two the same",
  async run(bench) {
    const { rig, sources, withReferences } = bench;
    const load = { clients: 64, figures: throughputFigures };
    const node = await startNode(rig);
    const candidates: Candidate[] = [];
    const nginx = withReferences ? await startNginx(rig, node.port) : undefined;
    if (nginx) {
      const target = targetOf(nginx, balanceRequests, RPC_EXPECTS);
      candidates.push(httpCandidate(bench, "nginx, the node's call", target, load));
    }
    for (const source of sources) {
      const service = await startService(rig, source, nodesConfig([node.url]));
      const target = serviceTarget(service, walletRequests(node.url), '"balance":"');
      candidates.push(httpCandidate(bench, service.label, target, load, service));
    }
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: [],
      notes: ["nginx passes the one call to the node through that a balance needs."],
    });
  },
};

/** Balances of token and native asset, each of another wallet. */
export function walletRequests(rpcUrl: string): RequestTemplate[] {
  return ["token", "native"].map((balanceType) => ({
    method: "POST",
    path: "/api/public/wallet/balance",
    headers: {},
    body: JSON.stringify({ address: "0x@ADDRESS@", chainId: "Arc", rpcUrl, balanceType }),
    weight: 1,
  }));
}
