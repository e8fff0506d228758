import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Interval } from "../load/slices.ts";
import { placed } from "./machine.ts";
import type { Rig } from "./rig.ts";

const PLACES = ["server", "load"] as const;

/** Tells when the machine stood still, as a virtual one does while its host runs something else. */
export interface StallWatch {
  /** Stalls so far. */
  stalls(): Interval[];
}

/**
 * Has a sleeper on the server's cores and one on the load's. Only where neither could wake did the
 * machine stand still: a busy server keeps the other's sleeper from nothing.
 */
export function watchStalls(rig: Rig): StallWatch {
  const names = PLACES.map((place) => {
    const name = `stalls-${place}`;
    const command = [process.execPath, "--smol", join(import.meta.dir, "stallWatch.ts")];
    rig.group.spawn({ name, command: placed(place, command) });
    return name;
  });
  const readLog = (name: string) => parseStalls(readFileSync(rig.logOf(name), "utf8"));
  return {
    stalls: () => names.map(readLog).reduce(intersections),
  };
}

function parseStalls(log: string): Interval[] {
  // The last line may still be being written; nothing follows its line break.
  const lines = log.split("\n").slice(0, -1);
  return lines.map((line): Interval => {
    const [from, to] = line.split(" ");
    return [Number(from), Number(to)];
  });
}

/** The stretches that are in both of two ordered lists. */
export function intersections(one: readonly Interval[], other: readonly Interval[]): Interval[] {
  const found: Interval[] = [];
  let at = 0;
  for (const [fromMs, toMs] of one) {
    while (at < other.length && (other[at]?.[1] ?? 0) <= fromMs) at++;
    for (let next = at; next < other.length && (other[next]?.[0] ?? 0) < toMs; next++) {
      const [otherFrom, otherTo] = other[next] ?? [0, 0];
      found.push([Math.max(fromMs, otherFrom), Math.min(toMs, otherTo)]);
    }
  }
  return found;
}
