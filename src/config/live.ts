import type { Config } from "./index.ts";

/** Members that apply as soon as they are changed; everything else is read once, at start. */
type LiveMembers = { readonly [Section in keyof Config]?: readonly (keyof Config[Section])[] };
const liveMembers = {
  access: ["defaultWindowLimit"],
  swap: ["platformFeeBps", "deadlineSeconds"],
  bridge: ["enabled", "maxFeeBps", "maxFeeAtomic", "limits"],
} as const satisfies LiveMembers;
/** Applied by whoever reads the networks anew. */
const NETWORKS = "networks";

/** A configuration some of whose limits may change while others hold it. */
export interface LiveConfig {
  readonly config: Config;
  /**
   * Takes over what may change.
   * @returns names of the sections that differ in what is read at start only
   */
  replace(next: Config): readonly string[];
}

/** @param initial - frozen; its live sections are copied so that they can change */
export function createLiveConfig(initial: Config): LiveConfig {
  const config = {
    ...initial,
    access: { ...initial.access },
    swap: { ...initial.swap },
    bridge: { ...initial.bridge },
  };
  return {
    config,
    replace(next) {
      for (const [section, members] of Object.entries(liveMembers)) {
        const name = section as keyof typeof liveMembers;
        for (const member of members) {
          Object.assign(config[name], { [member]: next[name][member as never] });
        }
      }
      const sections = Object.keys(config) as (keyof Config)[];
      return sections.filter(
        (name) => name !== NETWORKS && asText(config[name]) !== asText(next[name]),
      );
    },
  };
}

function asText(value: unknown): string {
  return JSON.stringify(value, (_name, member) =>
    typeof member === "bigint" ? String(member) : member,
  );
}
