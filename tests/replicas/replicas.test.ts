import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { upstreamsCommand } from "../../src/console/index.ts";
import { describeWithServers, hasStorageServers, testWithServers } from "../support/installed.ts";
import { type Outcome, replicaKilled, sharedFaults, underLoad } from "./faults.ts";
import { startLoad, inTurn } from "./load.ts";
import { reloadAgainAndAgain, rollingRestart } from "./live.ts";
import { chainConfig, startTinyNode } from "./node.ts";
import { type Cluster, startCluster, statusOf, until } from "./support.ts";

/**
 * Real processes over a real Postgres and Redis. `run.ts` beside this file runs the same at full
 * size.
 */
setDefaultTimeout(120_000);

const REPLICAS = 3;
const SIZE = { perSecond: 100, phaseMs: 700 };

const nodes = [startTinyNode(), startTinyNode(), startTinyNode()];
const extraNode = startTinyNode();
const urls = nodes.map(({ url }) => url);
const configs = [
  chainConfig(urls.slice(1), false, 2_000),
  chainConfig(urls.slice(0, 2), true, 700),
];

let cluster: Cluster;
beforeAll(async () => {
  if (!hasStorageServers) return;
  cluster = await startCluster({ replicas: REPLICAS, config: configs[1]! });
}, 120_000);
afterAll(async () => {
  if (hasStorageServers) await cluster.close();
  await Promise.all([...nodes, extraNode].map((node) => node.stop()));
});

const origins = () => cluster.replicas.map((replica) => replica.origin);
const statuses = (secret: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => statusOf(origins()[i % REPLICAS]!, secret)));
const countOf = (all: readonly number[], status: number) =>
  all.filter((one) => one === status).length;
/** Nobody was answered with anything but success, and the ledger has every answer. */
const expectUnnoticed = ({ tally, charged }: Outcome) => {
  expect([...tally.byStatus.keys()]).toEqual([200]);
  expect(charged).toBe(tally.sent);
};

describeWithServers("as one service", () => {
  test("1,000 parallel requests on a limit of 100: exactly 100", async () => {
    const { id, secret } = await cluster.newKey({ windowLimit: 100 });
    const all = await statuses(secret, 1_000);
    expect([countOf(all, 200), countOf(all, 429)]).toEqual([100, 900]);
    expect(await cluster.ledger(id)).toEqual({ requests: 100, cu: 100 });
  });

  test("300 parallel requests on an allowance of 50 units: never more, and in the end all 50", async () => {
    const { id, secret } = await cluster.newKey({ cuAllowance: 50 });
    const all = await statuses(secret, 300);
    expect(countOf(all, 200) + countOf(all, 429)).toBe(300);
    const { cu } = await cluster.ledger(id);
    expect(cu).toBe(countOf(all, 200));
    expect(cu).toBeLessThanOrEqual(50);
    // What one replica set aside and did not need comes to the others by itself.
    await until(async () => {
      await statusOf(origins()[0]!, secret);
      return (await cluster.ledger(id)).cu === 50;
    }, "all units to be spent");
    expect(await statusOf(origins()[1]!, secret)).toBe(429);
  });

  test("a revoked key is refused everywhere at once", async () => {
    const { id, secret } = await cluster.newKey();
    expect(await statuses(secret, REPLICAS)).toEqual([200, 200, 200]);
    const startedAt = performance.now();
    await cluster.revoke(id);
    await until(
      async () => countOf(await statuses(secret, REPLICAS), 401) === REPLICAS,
      "the key to be refused",
    );
    // Half a second at most where the machine is idle.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test("each sees all, and Redis", async () => {
    for (const replica of cluster.replicas) {
      expect(await replica.metric("causeway_replicas")).toBe(REPLICAS);
      expect(await replica.metric("causeway_redis_up")).toBe(1);
    }
  });
});

describeWithServers("under load nobody notices that", () => {
  test.each(sharedFaults)("$name", async (fault) => {
    expectUnnoticed(await underLoad(cluster, fault, SIZE));
  });

  test("a replica was killed, but for what it was working on", async () => {
    const { tally, charged } = await replicaKilled(cluster, SIZE);
    const answered = tally.byStatus.get(200) ?? 0;
    const unanswered = tally.byStatus.get(0) ?? 0;
    expect(answered + unanswered).toBe(tally.sent);
    // In flight on one of three replicas.
    expect(unanswered).toBeLessThanOrEqual(SIZE.perSecond / 2);
    expect(charged).toBeGreaterThanOrEqual(answered);
    expect(charged).toBeLessThanOrEqual(tally.sent);
  });

  test("replicas are restarted one after the other", async () => {
    expectUnnoticed(await rollingRestart(cluster, SIZE.perSecond));
  });

  test("the configuration is changed again and again", async () => {
    const options = { perSecond: SIZE.perSecond, reloads: 10, configs };
    expectUnnoticed(await reloadAgainAndAgain(cluster, options));
  });
});

testWithServers(
  "without Redis each replica grants its share, so that a limit holds, and recovers by itself",
  async () => {
    const { secret } = await cluster.newKey({ windowLimit: 90 });
    expect(countOf(await statuses(secret, 30), 200)).toBe(30);
    await cluster.redis.kill();
    const first = cluster.replicas[0]!;
    await until(async () => (await first.metric("causeway_redis_up")) === 0, "Redis to be missed");
    expect(countOf(await statuses(secret, 30), 200)).toBe(30);
    expect(await first.metric("causeway_window_local_decisions_total")).toBeGreaterThan(0);
    await cluster.redis.start();
    const open = await cluster.newKey({ windowLimit: 10_000_000 });
    const load = startLoad({ origin: inTurn(origins()), secret: open.secret, perSecond: 30 });
    const sharedOf = (replica: (typeof cluster.replicas)[number]) =>
      replica.metric('causeway_window_switches_total{to="shared"}');
    await until(async () => {
      const counts = await Promise.all(cluster.replicas.map(sharedOf));
      return counts.every((count) => count >= 2);
    }, "windows to be shared again");
    await load.stop();
    const rest = await statuses(secret, 300);
    expect(countOf(rest, 200)).toBe(30);
    expect(countOf(rest, 429)).toBe(270);
  },
);

const upstreams = async (origin: string, ...args: string[]) => {
  const printed: string[] = [];
  const target = () => ({ baseUrl: origin, adminToken: cluster.environment["ADMIN_TOKEN"] ?? "" });
  await upstreamsCommand([...args, "--json"], target, (text) => printed.push(text));
  return JSON.parse(printed.join("\n"));
};

testWithServers(
  "a node an operator adds or removes at one replica is added and removed at all",
  async () => {
    const counts = () =>
      Promise.all(origins().map(async (origin) => (await upstreams(origin, "list")).length));
    const before = await counts();
    const { id } = await upstreams(origins()[0]!, "add", "5042", extraNode.url);
    await until(
      async () => (await counts()).every((count, i) => count === before[i]! + 1),
      "added",
    );
    await upstreams(origins()[1]!, "remove", id);
    await until(async () => (await counts()).every((count, i) => count === before[i]), "removed");
  },
);

testWithServers(
  "a reload applies limits and venues, by signal and by command, and never half of a wrong one",
  async () => {
    const { secret } = await cluster.newKey();
    const catalog = async (origin: string) => {
      const answer = await fetch(`${origin}/api/public/swap/dexes`, {
        headers: { "x-api-key": secret },
      });
      const body = (await answer.json()) as { data: { chainId: number; enabled: boolean }[] };
      const { enabled } = body.data.find(({ chainId }) => chainId === 5042) ?? {
        enabled: undefined,
      };
      return `${answer.headers.get("x-ratelimit-limit")} ${enabled}`;
    };
    const allShow = (wanted: string) =>
      until(async () => {
        const shown = await Promise.all(origins().map(catalog));
        return shown.every((one) => one === wanted);
      }, wanted);
    cluster.writeConfig(configs[0]!);
    for (const replica of cluster.replicas) process.kill(replica.child().pid, "SIGHUP");
    await allShow("2000 false");
    cluster.writeConfig(configs[1]!);
    await cluster.database.peers.announceConfig();
    await allShow("700 true");
    cluster.writeConfig({ ...configs[0]!, access: { defaultWindowLimit: -1 } });
    await cluster.database.peers.announceConfig();
    await until(async () => {
      const refused = cluster.replicas.map((replica) =>
        replica.metric('causeway_config_reloads_total{outcome="refused"}'),
      );
      return (await Promise.all(refused)).every((count) => count > 0);
    }, "the wrong configuration to be refused");
    expect(await Promise.all(origins().map(catalog))).toEqual(Array(REPLICAS).fill("700 true"));
  },
);
