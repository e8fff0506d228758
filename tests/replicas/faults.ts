import { describeTally, inTurn, type RunningLoad, startLoad, type Tally } from "./load.ts";
import { type Cluster, until } from "./support.ts";

export interface FaultOptions {
  readonly perSecond: number;
  /** Load before the fault, during it and after it, ms each. */
  readonly phaseMs: number;
}

/** What a fault did to callers and to the ledger. */
export interface Outcome {
  readonly tally: Tally;
  /** Requests the ledger holds of the key. */
  readonly charged: number;
}

/** What breaks, and how it is made whole again. */
export interface Fault {
  readonly name: string;
  strike(cluster: Cluster): Promise<void>;
  mend(cluster: Cluster): Promise<void>;
}

/** Faults of what the replicas share; callers must not notice any of them. */
export const sharedFaults: readonly Fault[] = [
  {
    name: "Redis killed and restarted",
    strike: ({ redis }) => redis.kill(),
    mend: ({ redis }) => redis.start(),
  },
  {
    name: "Redis silent for a while",
    strike: async ({ redis }) => redis.freeze(),
    mend: async ({ redis }) => redis.thaw(),
  },
  {
    name: "Postgres killed and restarted",
    strike: ({ postgres }) => postgres.kill(),
    mend: ({ postgres }) => postgres.start(),
  },
];

/** Lets a fault strike a cluster under load. */
export async function underLoad(
  cluster: Cluster,
  { strike, mend }: Fault,
  { perSecond, phaseMs }: FaultOptions,
): Promise<Outcome> {
  const { id, secret } = await cluster.newKey({ windowLimit: 10_000_000 });
  const origin = inTurn(cluster.replicas.map((replica) => replica.origin));
  const load = startLoad({ origin, secret, perSecond });
  await Bun.sleep(phaseMs);
  await strike(cluster);
  await Bun.sleep(phaseMs);
  await mend(cluster);
  await moreAnswers(load, perSecond * (phaseMs / 1_000));
  const tally = await load.stop();
  return { tally, charged: (await cluster.ledger(id)).requests };
}

/** Kills a replica under load; from then on callers are sent to the others. */
export async function replicaKilled(
  cluster: Cluster,
  { perSecond, phaseMs }: FaultOptions,
): Promise<Outcome> {
  const { id, secret } = await cluster.newKey({ windowLimit: 10_000_000 });
  const origins = cluster.replicas.map((replica) => replica.origin);
  let origin = inTurn(origins);
  const load = startLoad({ origin: () => origin(), secret, perSecond });
  await Bun.sleep(phaseMs);
  origin = inTurn(origins.slice(1));
  await cluster.replicas[0]?.kill();
  await moreAnswers(load, perSecond * (phaseMs / 1_000));
  const tally = await load.stop();
  const { requests } = await cluster.ledger(id);
  await cluster.replicas[0]?.start();
  return { tally, charged: requests };
}

/** Waits until so many more requests were answered. */
export async function moreAnswers(load: RunningLoad, more: number): Promise<void> {
  const wanted = load.answered() + more;
  await until(() => load.answered() >= wanted, `${more} more answers`);
}

/** One line of a report. */
export function describeOutcome(name: string, { tally, charged }: Outcome): string {
  const ok = tally.byStatus.get(200) ?? 0;
  return `${name}: ${describeTally(tally)}; ${ok} answered with 200, ${charged} charged`;
}
