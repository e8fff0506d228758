import type { UpstreamView } from "../../views.ts";

/** Looks back over this many answers of the service. */
const WINDOW = 15;

/** Each node's share of its chain's traffic, from the counts of the last half minute. */
export class TrafficShares {
  readonly #samples: ReadonlyMap<string, number>[] = [];

  /** @returns by upstream id; a chain without traffic is left out */
  update(nodes: readonly UpstreamView[]): ReadonlyMap<string, number> {
    this.#samples.push(new Map(nodes.map(({ id, requests }) => [id, requests])));
    if (this.#samples.length > WINDOW) this.#samples.shift();
    const [oldest] = this.#samples;
    const recent = (node: UpstreamView) => node.requests - (oldest?.get(node.id) ?? 0);
    const shares = new Map<string, number>();
    for (const ofChain of Map.groupBy(nodes, ({ chainId }) => chainId).values()) {
      const total = ofChain.reduce((sum, node) => sum + recent(node), 0);
      if (total === 0) continue;
      for (const node of ofChain) shares.set(node.id, recent(node) / total);
    }
    return shares;
  }
}
