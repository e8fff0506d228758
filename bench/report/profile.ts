import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** A node of a CPU profile in the format of Chrome's developer tools. */
interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
}

const SHOWN = 40;

/** Prints where the newest profile of a directory spent its time. */
export function printHotSpots(dir: string, root: string): void {
  const [file] = readdirSync(dir)
    .filter((name) => name.endsWith(".cpuprofile"))
    .map((name) => join(dir, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (!file) throw new Error(`no profile was written to ${dir}`);
  const profile: Profile = JSON.parse(readFileSync(file, "utf8"));
  console.log(`${file}\n\n  self   total  where`);
  for (const { place, self, total } of hotSpots(profile, root).slice(0, SHOWN)) {
    console.log(`${percent(self)} ${percent(total)}  ${place}`);
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`.padStart(7);
}

/** Places by their own share of the samples; `total` includes what they call. */
export function hotSpots({ nodes, samples }: Profile, root: string) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])));
  const own = new Map<string, number>();
  const all = new Map<string, number>();
  const add = (map: Map<string, number>, place: string) =>
    map.set(place, (map.get(place) ?? 0) + 1 / samples.length);
  for (const sample of samples) {
    const seen = new Set<string>();
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const node = byId.get(id);
      if (!node) break;
      const place = placeOf(node, root);
      if (id === sample) add(own, place);
      seen.add(place);
    }
    for (const place of seen) add(all, place);
  }
  return [...all]
    .map(([place, total]) => ({ place, self: own.get(place) ?? 0, total }))
    .sort((a, b) => b.self - a.self);
}

function placeOf({ callFrame }: ProfileNode, root: string): string {
  const { functionName, url, lineNumber } = callFrame;
  const file = url.replace("file://", "").replace(`${root}/`, "");
  const name = functionName || "(anonymous)";
  return file === "" ? name : `${name} ${file}:${lineNumber + 1}`;
}
