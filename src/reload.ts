import { type ChainRegistry, createRegistry, type LiveRegistry } from "./chains/index.ts";
import type { Config } from "./config/index.ts";
import type { LiveConfig } from "./config/live.ts";
import type { Market } from "./market/index.ts";
import type { Logger } from "./telemetry/index.ts";
import {
  applyChanges,
  type LineupChange,
  upstreamId,
  type UpstreamPool,
} from "./upstream/index.ts";

export interface ReloadDependencies {
  /** Reads the environment and the config file anew. @throws ConfigError */
  readonly load: () => Config;
  readonly live: LiveConfig;
  /** As configured, and with the operator's changes to upstreams. */
  readonly configured: LiveRegistry;
  readonly registry: LiveRegistry;
  readonly readChanges: () => Promise<readonly LineupChange[]>;
  readonly pool: Pick<UpstreamPool, "status" | "attach" | "remove">;
  readonly market: Pick<Market, "renew">;
  readonly log: Logger;
  /** Told how each reload ended. */
  readonly onOutcome: (outcome: "applied" | "refused") => void;
}

type Chain = ChainRegistry["all"][number];

/**
 * Makes the function that applies the configuration as it is now: upstreams, venues and limits. A
 * configuration that cannot be served changes nothing. Asked again during a run, it runs once more.
 */
export function createReloader(dependencies: ReloadDependencies): () => Promise<void> {
  const { log, onOutcome } = dependencies;
  let running: Promise<void> | undefined;
  let isAskedAgain = false;

  const runOnce = async () => {
    try {
      const needRestart = await apply(dependencies);
      onOutcome("applied");
      log.info({ needRestart }, "configuration reloaded");
    } catch (error) {
      onOutcome("refused");
      log.error({ error }, "the configuration cannot be used; the one before stays in force");
    }
  };
  return () => {
    isAskedAgain = true;
    running ??= (async () => {
      while (isAskedAgain) {
        isAskedAgain = false;
        await runOnce();
      }
    })().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** @returns what differs and is read at start only */
async function apply(dependencies: ReloadDependencies): Promise<readonly string[]> {
  const { load, live, configured, registry, readChanges, pool, market, log } = dependencies;
  const next = load();
  const nextConfigured = keepChains(configured, createRegistry(next.networks));
  const nextRegistry = applyChanges(nextConfigured, await readChanges());
  const before = new Map(registry.all.map((chain) => [chain.id, chain]));
  const needRestart = [...live.replace(next)];
  if (createRegistry(next.networks).all.length !== configured.all.length) {
    needRestart.push("networks (added or removed)");
  }
  configured.replace(nextConfigured);
  registry.replace(nextRegistry);
  await Promise.all(
    nextRegistry.all.map(async (chain) => {
      const old = before.get(chain.id) ?? chain;
      await changeUpstreams(pool, old, chain, log);
      if (withoutUpstreams(old) !== withoutUpstreams(chain)) await market.renew(chain.id);
    }),
  );
  return needRestart;
}

/** The chains the process was started with, each as it is described now. */
function keepChains(current: ChainRegistry, next: ChainRegistry): ChainRegistry {
  const all = current.all.map((chain) => next.byId(chain.id) ?? chain);
  const byId = new Map(all.map((chain) => [chain.id, chain]));
  const find = (chain: Chain | undefined) => chain && byId.get(chain.id);
  return {
    all,
    byId: (id) => byId.get(id),
    byName: (name) => find(next.byName(name) ?? current.byName(name)),
  };
}

/** Attaches what is new before it removes what is gone, and never removes the last one. */
async function changeUpstreams(
  pool: ReloadDependencies["pool"],
  old: Chain,
  chain: Chain,
  log: Logger,
): Promise<void> {
  const idOf = ({ url }: { readonly url: string }) => upstreamId(chain.id, url);
  const entriesBefore = new Map(old.upstreams.map((entry) => [idOf(entry), JSON.stringify(entry)]));
  const inUse = new Set(
    pool
      .status()
      .filter(({ chainId, state }) => chainId === chain.id && state !== "draining")
      .map(({ id }) => id),
  );
  const wanted = new Map(chain.upstreams.map((entry) => [idOf(entry), entry]));
  for (const [id, entry] of wanted) {
    const isSame = (entriesBefore.get(id) ?? JSON.stringify(entry)) === JSON.stringify(entry);
    if (inUse.has(id) && isSame) continue;
    // One whose settings differ makes room for itself, as long as there are others.
    if (inUse.has(id) && inUse.size > 1) await pool.remove(id);
    else if (inUse.has(id)) continue;
    try {
      await pool.attach(chain.id, entry);
      inUse.add(id);
    } catch (error) {
      log.warn({ chainId: chain.id, upstream: id, error }, "a configured upstream is not used");
    }
  }
  for (const id of inUse) {
    if (wanted.has(id)) continue;
    if (inUse.size === 1) {
      log.warn({ chainId: chain.id, upstream: id }, "the last upstream of a chain is kept");
      return;
    }
    inUse.delete(id);
    await pool.remove(id);
  }
}

function withoutUpstreams(chain: Chain): string {
  return JSON.stringify({ ...chain, upstreams: [] });
}
