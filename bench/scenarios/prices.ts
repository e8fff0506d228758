import { startFeeds } from "../../src/sandbox/feeds.ts";
import { httpCandidate, serviceTarget, targetOf, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { RequestTemplate } from "../load/request.ts";
import { startBareBun, startBareElysia } from "../rig/references.ts";
import type { RunningServer } from "../rig/rig.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import type { Bench, Candidate, Scenario } from "../scenario.ts";

const load = { clients: 64, figures: throughputFigures };
export const priceRequests: readonly RequestTemplate[] = [
  { method: "GET", path: "/api/public/prices", headers: {}, weight: 1 },
];
/** An answer that never changes, behind the same gate. */
const catalogRequests: readonly RequestTemplate[] = [
  { method: "GET", path: "/api/public/swap/dexes", headers: {}, weight: 1 },
];
const CONSTANT = '{"USDC":{"usd":0.9998},"EURC":{"usd":1.16},"USDT":{"usd":1.0001}}';
const EXPECTS = '"EURC":\\{"usd":1\\.1';

/** A read that is answered from memory: what key check, window, metering and headers cost. */
export const prices: Scenario = {
  name: "prices",
  title: "spot prices, answered from memory, 64 clients",
  async run(bench) {
    const feeds = startFeeds();
    try {
      return await compareCandidates(bench, this, await startCandidates(bench, feeds), {
        headline: "requestsPerSecond",
        baselines: ["bare Elysia, constant"],
        notes: [
          "The bare servers answer a constant without key, window, metering or headers.",
          "The catalog is a fixed answer of the service itself, behind the same gate.",
        ],
      });
    } finally {
      await Promise.all(feeds.map((feed) => feed.stop()));
    }
  },
};

async function startCandidates(
  bench: Bench,
  feeds: ReturnType<typeof startFeeds>,
): Promise<Candidate[]> {
  const { rig, sources, withReferences } = bench;
  const candidates: Candidate[] = [];
  if (withReferences) {
    const reference = (name: string, server: RunningServer) =>
      httpCandidate(bench, name, targetOf(server, priceRequests, EXPECTS), load, server);
    candidates.push(
      reference("bare Bun.serve, constant", await startBareBun(rig, CONSTANT)),
      reference("bare Elysia, constant", await startBareElysia(rig, CONSTANT)),
    );
  }
  for (const source of sources) {
    const service = await startService(rig, source, {
      ...nodesConfig([]),
      prices: { baseUrls: Object.fromEntries(feeds.map(({ id, url }) => [id, url])) },
    });
    const target = serviceTarget(service, priceRequests, EXPECTS);
    candidates.push(httpCandidate(bench, service.label, target, load, service));
    const fixed = serviceTarget(service, catalogRequests, '"success":true');
    candidates.push(httpCandidate(bench, `${service.label}, DEX catalog`, fixed, load, service));
  }
  return candidates;
}
