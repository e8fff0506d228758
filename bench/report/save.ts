import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MachineState } from "../rig/machine.ts";
import type { Result } from "../scenario.ts";
import { renderBars, renderLine } from "./svg.ts";

/** Writes a result with the machine's state as JSON, and its charts as SVG. @returns the files */
export function saveResult(dir: string, result: Result, machine: MachineState): string[] {
  mkdirSync(dir, { recursive: true });
  const files = new Map([
    [`${result.scenario}.json`, `${JSON.stringify({ machine, ...result }, undefined, 2)}\n`],
    [`${result.scenario}.svg`, renderBars(result)],
    ...result.series.map((series, index): [string, string] => [
      `${result.scenario}-${index + 1}.svg`,
      renderLine(series),
    ]),
  ]);
  for (const [name, text] of files) writeFileSync(join(dir, name), text);
  return [...files.keys()].map((name) => join(dir, name));
}
