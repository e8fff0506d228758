import { httpCandidate, serviceTarget, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { RequestTemplate } from "../load/request.ts";
import { sandboxAccounts } from "../../src/sandbox/accounts.ts";
import { startChain } from "../rig/chain.ts";
import { withNodeTime } from "../rig/nodeTime.ts";
import { type RunningService, startService } from "../rig/service.ts";
import type { Candidate, Scenario } from "../scenario.ts";

/** Building and simulating swap transactions. */
export const buildTx: Scenario = {
  name: "build-tx",
  title: "building swap transactions with simulation, 16 clients",
  async run(bench) {
    const { config } = await startChain(bench.rig);
    const candidates: Candidate[] = [];
    for (const source of bench.sources) {
      const service = await startService(bench.rig, source, config);
      const target = serviceTarget(service, await buildRequests(service, 5042), '"success":true');
      const load = { clients: 16, figures: throughputFigures };
      const candidate = httpCandidate(bench, service.label, target, load, service);
      candidates.push(withNodeTime(candidate, service, "build-tx"));
    }
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: [],
      notes: ["Every transaction is simulated on the node, a local anvil, which is the limit."],
    });
  },
};

/** One request per funded wallet, all for the same quote on one of the sandbox's chains. */
export async function buildRequests(
  service: RunningService,
  chainId: number,
): Promise<RequestTemplate[]> {
  const trade = { inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000", chainId };
  const answer = await fetch(`http://127.0.0.1:${service.port}/api/public/swap/quote`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": service.key },
    body: JSON.stringify(trade),
  });
  if (!answer.ok) throw new Error(`no quote to build from: ${await answer.text()}`);
  const { data: quote }: { data: unknown } = JSON.parse(await answer.text());
  return sandboxAccounts().wallets.map(({ address }) => ({
    method: "POST",
    path: "/api/public/swap/build-tx",
    headers: {},
    body: JSON.stringify({ quote, userAddress: address }),
    weight: 1,
  }));
}
