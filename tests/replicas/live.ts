import { startBalancer } from "./balancer.ts";
import type { ConfigFile } from "../../src/config/index.ts";
import { moreAnswers, type Outcome } from "./faults.ts";
import { startLoad } from "./load.ts";
import type { Cluster } from "./support.ts";

const RPC = "/api/public/rpc/5042";

/** A request that reaches a node, so that it depends on upstreams. */
const balanceRequest = {
  method: "POST",
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "eth_getBalance",
    params: ["0x0000000000000000000000000000000000000001", "latest"],
  }),
};

/** Restarts one replica after the other behind a balancer, under load. */
export async function rollingRestart(cluster: Cluster, perSecond: number): Promise<Outcome> {
  const { id, secret } = await cluster.newKey({ windowLimit: 10_000_000 });
  const balancer = startBalancer(cluster.replicas.map((replica) => replica.origin));
  const load = startLoad({ origin: () => balancer.origin, secret, perSecond });
  await moreAnswers(load, perSecond);
  for (const replica of cluster.replicas) {
    await replica.stop();
    await replica.start();
    await moreAnswers(load, perSecond / 2);
  }
  const tally = await load.stop();
  await balancer.stop();
  return { tally, charged: (await cluster.ledger(id)).requests };
}

export interface ReloadOptions {
  readonly perSecond: number;
  readonly reloads: number;
  /** What the service is configured as, in turn. */
  readonly configs: readonly ConfigFile[];
}

/** Changes the configuration again and again under load, and has every replica read it. */
export async function reloadAgainAndAgain(
  cluster: Cluster,
  { perSecond, reloads, configs }: ReloadOptions,
): Promise<Outcome> {
  const { id, secret } = await cluster.newKey({ windowLimit: 10_000_000 });
  const origins = cluster.replicas.map((replica) => replica.origin);
  let next = 0;
  const origin = () => origins[next++ % origins.length] ?? "";
  const load = startLoad({ origin, secret, perSecond, path: RPC, init: balanceRequest });
  for (let reload = 0; reload < reloads; reload++) {
    cluster.writeConfig(configs[reload % configs.length] ?? {});
    for (const replica of cluster.replicas) process.kill(replica.child().pid, "SIGHUP");
    await moreAnswers(load, perSecond / 5);
  }
  const tally = await load.stop();
  return { tally, charged: (await cluster.ledger(id)).requests };
}
