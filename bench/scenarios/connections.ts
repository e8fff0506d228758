import { httpCandidate, serviceTarget, targetOf } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { Target } from "../load/request.ts";
import { residentMegabytes, watchMemory } from "../rig/memory.ts";
import { startBareBun } from "../rig/references.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import { startNode } from "../rig/upstream.ts";
import type { Bench, Candidate, Scenario } from "../scenario.ts";
import { balanceRequests, RPC_EXPECTS, RPC_PATH } from "./rpcRequests.ts";

const WANTED = 10_000;
/** Files a process needs besides its connections. */
const OTHER_FILES = 200;
/** Every client is heard of within five seconds, before idle connections are closed. */
const SECONDS_BETWEEN_CALLS = 5;
const CONSTANT = '{"jsonrpc":"2.0","id":1,"result":"0xde0b6b3a7640000"}';

/** Many open keep-alive clients, each of which calls once in a while. */
export const connections: Scenario = {
  name: "connections",
  title: "10,000 open keep-alive clients, each calling every 5 s (open loop)",
  async run(bench) {
    const clients = Math.min(WANTED, maxOpenFiles() - OTHER_FILES);
    const candidates: Candidate[] = [];
    if (bench.withReferences) {
      const bare = await startBareBun(bench.rig, CONSTANT);
      const target = targetOf(bare, balanceRequests, RPC_EXPECTS);
      candidates.push(
        manyClients(bench, "bare Bun.serve, constant", target, bare.child.pid, clients),
      );
    }
    const node = await startNode(bench.rig);
    for (const source of bench.sources) {
      const service = await startService(bench.rig, source, nodesConfig([node.url]));
      const target = serviceTarget(service, balanceRequests, RPC_EXPECTS, RPC_PATH);
      candidates.push(manyClients(bench, service.label, target, service.child.pid, clients));
    }
    return compareCandidates(bench, this, candidates, {
      headline: "kilobytesPerClient",
      baselines: [],
      notes: [
        `${clients.toLocaleString("en-US")} clients. Memory is the highest while they are connected, above that with 64 clients at the same rate.`,
      ],
    });
  },
};

function manyClients(
  bench: Bench,
  name: string,
  target: Target,
  pid: number,
  clients: number,
): Candidate {
  const candidate = httpCandidate(bench, name, target, {
    clients,
    rate: clients / SECONDS_BETWEEN_CALLS,
    figures: ["failures", "p50Ms", "p99Ms", "maxMs"],
  });
  let before: number | undefined;
  return {
    ...candidate,
    async measure(seconds) {
      if (before === undefined) {
        before = await residentAfterFewClients(bench, target, pid);
      }
      const memory = watchMemory(pid);
      const figures = await candidate.measure(seconds);
      const residentMB = memory.stop();
      const kilobytesPerClient = ((residentMB - before) * 1_000) / clients;
      return { kilobytesPerClient, residentMB, ...figures };
    },
  };
}

/** Memory once the code is warm, so that only clients make the difference. */
async function residentAfterFewClients(bench: Bench, target: Target, pid: number): Promise<number> {
  await httpCandidate(bench, "warm-up", target, {
    clients: 64,
    rate: WANTED / SECONDS_BETWEEN_CALLS,
    figures: [],
  }).measure(2);
  return residentMegabytes(pid);
}

function maxOpenFiles(): number {
  const limit = String(Bun.spawnSync(["sh", "-c", "ulimit -n"]).stdout).trim();
  return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
}
