import type { ChainRegistry } from "./registry.ts";

/** A registry whose contents may be replaced while others hold it. */
export interface LiveRegistry extends ChainRegistry {
  replace(next: ChainRegistry): void;
}

/** Look-ups go to the registry that was given last. */
export function createLiveRegistry(initial: ChainRegistry): LiveRegistry {
  let current = initial;
  return {
    get all() {
      return current.all;
    },
    byId: (id) => current.byId(id),
    byName: (name) => current.byName(name),
    replace(next) {
      current = next;
    },
  };
}
