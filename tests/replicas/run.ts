import { parseArgs } from "node:util";
import {
  describeOutcome,
  moreAnswers,
  type Outcome,
  replicaKilled,
  sharedFaults,
  underLoad,
} from "./faults.ts";
import { reloadAgainAndAgain, rollingRestart } from "./live.ts";
import { describeTally, inTurn, startLoad } from "./load.ts";
import { chainConfig, startTinyNode } from "./node.ts";
import { type Cluster, PATH, startCluster, statusOf, until } from "./support.ts";

/**
 * What the replicas promise, at full size, with its figures:
 *
 *     bun tests/replicas/run.ts [--requests 1000000] [--per-second 500] [--reloads 100] [--phase 5000]
 */
const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "1000000" },
    "per-second": { type: "string", default: "500" },
    reloads: { type: "string", default: "100" },
    phase: { type: "string", default: "5000" },
  },
});
const [requests, perSecond, reloads, phaseMs] = [
  Number(values.requests),
  Number(values["per-second"]),
  Number(values.reloads),
  Number(values.phase),
];
const REPLICAS = 3;
const CLIENTS = 64;

const say = (line: string) => process.stdout.write(`${line}\n`);
const nodes = [startTinyNode(), startTinyNode(), startTinyNode()];
const urls = nodes.map(({ url }) => url);
const configs = [
  chainConfig(urls.slice(1), false, 2_000),
  chainConfig(urls.slice(0, 2), true, 700),
];

async function limit(cluster: Cluster): Promise<void> {
  const { secret } = await cluster.newKey({ windowLimit: 100 });
  const all = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) => statusOf(origins(cluster)[i % REPLICAS] ?? "", secret)),
  );
  say(`1,000 parallel on a limit of 100: ${all.filter((one) => one === 200).length} let in`);
}

async function revocation(cluster: Cluster): Promise<void> {
  const slowest: number[] = [];
  for (let round = 0; round < 20; round++) {
    const { id, secret } = await cluster.newKey();
    await Promise.all(origins(cluster).map((origin) => statusOf(origin, secret)));
    await cluster.revoke(id);
    const startedAt = performance.now();
    const refused = origins(cluster).map((origin) =>
      until(async () => (await statusOf(origin, secret)) === 401, "401"),
    );
    await Promise.all(refused);
    slowest.push(performance.now() - startedAt);
  }
  say(
    `20 revocations, not announced: refused everywhere after ${Math.max(...slowest).toFixed(0)} ms at most`,
  );
}

/** A closed loop: as many requests as there are to be, as fast as they are answered. */
async function exactLedger(cluster: Cluster): Promise<void> {
  const { id, secret } = await cluster.newKey({ windowLimit: 2_000_000_000 });
  const next = inTurn(origins(cluster));
  const headers = { "x-api-key": secret };
  let [sent, ok] = [0, 0];
  const startedAt = performance.now();
  const client = async () => {
    while (sent < requests) {
      sent++;
      const answer = await fetch(next() + PATH, { headers });
      await answer.bytes();
      if (answer.status === 200) ok++;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { requests: charged, cu } = await cluster.ledger(id);
  say(
    `${sent} requests in ${seconds.toFixed(0)} s (${Math.round(sent / seconds)} per second): ` +
      `${ok} answered with 200, ${charged} charged, ${cu} CU; difference ${charged - ok}`,
  );
}

const origins = (cluster: Cluster) => cluster.replicas.map((replica) => replica.origin);
const report = (name: string, outcome: Outcome) => say(describeOutcome(name, outcome));

const cluster = await startCluster({ replicas: REPLICAS, config: configs[1] ?? {} });
const size = { perSecond, phaseMs };
await limit(cluster);
await revocation(cluster);
for (const fault of sharedFaults) report(fault.name, await underLoad(cluster, fault, size));
report("A replica killed", await replicaKilled(cluster, size));
report(`Rolling restart at ${perSecond} per second`, await rollingRestart(cluster, perSecond));
report(
  `${reloads} reloads at ${perSecond} per second`,
  await reloadAgainAndAgain(cluster, { perSecond, reloads, configs }),
);
const open = await cluster.newKey({ windowLimit: 2_000_000_000 });
const steady = startLoad({ origin: inTurn(origins(cluster)), secret: open.secret, perSecond });
await moreAnswers(steady, perSecond * 2);
say(`Steady, for comparison: ${describeTally(await steady.stop())}`);
await exactLedger(cluster);
await cluster.close();
await Promise.all(nodes.map((node) => node.stop()));
process.exit(0);
