import type { Chain, ChainRegistry } from "../chains/index.ts";
import type { UpstreamData } from "../config/index.ts";
import { upstreamId } from "./upstreamId.ts";

/** An upstream that was added to the configured ones, or taken from them. */
export type LineupChange =
  | { readonly kind: "added"; readonly chainId: number; readonly upstream: UpstreamData }
  | { readonly kind: "removed"; readonly chainId: number; readonly id: string };

/** The registry with changes made while an earlier process ran; unknown chains are passed over. */
export function applyChanges(
  registry: ChainRegistry,
  changes: readonly LineupChange[],
): ChainRegistry {
  if (changes.length === 0) return registry;
  const changed = new Map<number, Chain>();
  for (const chain of registry.all) {
    const own = changes.filter(({ chainId }) => chainId === chain.id);
    changed.set(chain.id, own.length === 0 ? chain : { ...chain, upstreams: lineup(chain, own) });
  }
  return {
    all: [...changed.values()],
    byId: (id) => changed.get(id),
    byName: (name) => changed.get(registry.byName(name)?.id ?? 0),
  };
}

function lineup(chain: Chain, changes: readonly LineupChange[]): UpstreamData[] {
  const entries = new Map(chain.upstreams.map((entry) => [upstreamId(chain.id, entry.url), entry]));
  for (const change of changes) {
    if (change.kind === "removed") entries.delete(change.id);
    else entries.set(upstreamId(chain.id, change.upstream.url), change.upstream);
  }
  return [...entries.values()];
}
