import { existsSync } from "node:fs";
import { join } from "node:path";
import { startPostgres, startRedis } from "../../tests/support/storageServers.ts";
import { httpCandidate, serviceTarget, throughputFigures } from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { RequestTemplate } from "../load/request.ts";
import { nodesConfig, startService } from "../rig/service.ts";
import { startNode } from "../rig/upstream.ts";
import type { Bench, Candidate, Scenario } from "../scenario.ts";
import { balanceRequests, RPC_EXPECTS, RPC_PATH } from "./rpcRequests.ts";

const load = { clients: 256, figures: throughputFigures };

/** What a service is asked, and the nodes it needs for that. */
interface Asked {
  readonly urls: readonly string[];
  readonly requests: readonly RequestTemplate[];
  readonly expects: string;
  readonly path?: string;
}

/** A fixed answer behind the gate: key, window and charge are all that is left. */
const catalog: Asked = {
  urls: [],
  requests: [{ method: "GET", path: "/api/public/swap/dexes", headers: {}, weight: 1 }],
  expects: '"success":true',
};
const SQLITE = "one process, SQLite";
const NETWORKED = "one process, Postgres and Redis";

/** What it costs to keep keys, windows and charges in Postgres and Redis, and what replicas gain. */
export const replicas: Scenario = {
  name: "replicas",
  title: "charged requests on SQLite, on Postgres and Redis, and by two workers, 256 clients",
  async run(bench) {
    const candidates = [
      await startCandidate(bench, SQLITE, {}, catalog),
      ...(isInstalled() ? await networked(bench, catalog) : []),
    ];
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: [NETWORKED, SQLITE],
      notes: [
        "Load, Postgres and Redis share the machine's cores with the services, which may use all of them.",
        ...(isInstalled() ? [] : ["Postgres or Redis is not installed here."]),
      ],
    });
  },
};

/** As above with calls that are passed through to a node, so that the service has work to share. */
export const replicaCalls: Scenario = {
  name: "replica-calls",
  title: "calls to a node by one process and by two workers, on Postgres and Redis, 256 clients",
  async run(bench) {
    if (!isInstalled()) throw new Error("Postgres or Redis is not installed");
    const node = await startNode(bench.rig);
    const asked = {
      urls: [node.url],
      requests: balanceRequests,
      expects: RPC_EXPECTS,
      path: RPC_PATH,
    };
    return compareCandidates(bench, this, await networked(bench, asked), {
      headline: "requestsPerSecond",
      baselines: [NETWORKED],
      notes: ["Load, node, Postgres and Redis share the machine's cores with the services."],
    });
  },
};

const isInstalled = () => Bun.which("redis-server") !== null && existsSync("/usr/lib/postgresql");

async function networked(bench: Bench, asked: Asked): Promise<Candidate[]> {
  const { group, dir } = bench.rig;
  const redis = await startRedis(group, join(dir, "redis"));
  const postgres = await startPostgres(group, join(dir, "postgres"), { isDurable: true });
  const shared = async () => ({
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    KEY_PEPPER: "be".repeat(32),
  });
  return [
    await startCandidate(bench, NETWORKED, await shared(), asked),
    await startCandidate(
      bench,
      "two workers, Postgres and Redis",
      { ...(await shared()), WORKERS: "2" },
      asked,
    ),
  ];
}

async function startCandidate(
  bench: Bench,
  name: string,
  env: Readonly<Record<string, string>>,
  { urls, requests, expects, path }: Asked,
): Promise<Candidate> {
  const [source] = bench.sources;
  if (!source) throw new Error("a scenario needs a source");
  const options = { env, place: "anywhere" } as const;
  const service = await startService(bench.rig, source, nodesConfig(urls), options);
  // The first of several workers only watches the others.
  const measured = "WORKERS" in env ? undefined : service;
  return httpCandidate(
    bench,
    name,
    serviceTarget(service, requests, expects, path),
    load,
    measured,
  );
}
