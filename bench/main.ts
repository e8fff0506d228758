import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compareRevisions } from "./compare.ts";
import { runMicro } from "./micro.ts";
import { printHotSpots } from "./report/profile.ts";
import { saveResult } from "./report/save.ts";
import { renderTable } from "./report/table.ts";
import { closedLoopTool } from "./load/run.ts";
import { machineState } from "./rig/machine.ts";
import { runScenario, type RunOptions } from "./runScenario.ts";
import type { Result, Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";

const ROOT = resolve(import.meta.dir, "..");
const HELP = `usage: bun run bench [scenario...] [options]     scenarios; all when none is named
       bun run bench micro [options]             hot functions alone
       bun run bench compare <git-ref> [scenario...] [options]
                                                 this tree against another revision
  --quick          2 repeats of 2 s instead of 5 of 5 s, and growth to smaller sizes
  --repeats <n>    --seconds <n>
  --save           write bench/results/*.json and *.svg
  --json           print results as JSON
  --profile        profile the service's CPU; the hottest places are listed

${scenarios.map(({ name, title }) => `  ${name.padEnd(16)} ${title}`).join("\n")}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    repeats: { type: "string" },
    seconds: { type: "string" },
    save: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

const machine = machineState();
const profileDir = values.profile ? join(ROOT, ".bench/profile") : undefined;
const options: RunOptions = {
  sources: [{ label: "causeway", dir: ROOT, ...(profileDir && { profileDir }) }],
  withReferences: !values.profile,
  repeats: Number(values.repeats ?? (values.quick ? 2 : 5)),
  seconds: Number(values.seconds ?? (values.quick ? 2 : 5)),
  isQuick: values.quick,
  progress: (text) => process.stderr.write(`  ${text}\n`),
};

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  announce();
  const [first, ...others] = positionals;
  if (first === "micro") return report(await runMicro(options));
  const names = first === "compare" ? others.slice(1) : positionals;
  const chosen = names.length === 0 && first !== "compare" ? scenarios : names.map(find);
  if (first === "compare") {
    const ref = others[0];
    if (!ref) throw new Error("compare needs a git ref");
    for await (const result of compareRevisions(ROOT, ref, chosen, options)) report(result);
    return;
  }
  let failed: unknown;
  for (const scenario of chosen) {
    try {
      report(await runScenario(scenario, options));
    } catch (error) {
      // The others may still be worth having.
      process.stderr.write(`${scenario.name} failed: ${messageOf(error)}\n`);
      failed = error;
    }
  }
  if (failed) throw failed;
  if (profileDir) printHotSpots(profileDir, ROOT);
}

function find(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (!scenario) throw new Error(`unknown scenario ${name}; --help lists them`);
  return scenario;
}

function announce(): void {
  const { cpu, cores, memoryGiB, system, loadAverage, placement, versions, revision } = machine;
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  process.stderr.write(
    `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}\n` +
      `${list.join(", ")}; closed loops by ${closedLoopTool}; ${placement}\n` +
      `revision ${revision}; load average ${loadAverage}; ` +
      `${options.repeats} repeats of ${options.seconds} s\n\n`,
  );
  if (loadAverage > cores / 2) {
    process.stderr.write("The machine is busy: expect a wide spread and wrong ratios.\n\n");
  }
}

function report(result: Result): void {
  console.log(values.json ? JSON.stringify({ machine, ...result }) : renderTable(result));
  if (!values.save) return;
  for (const file of saveResult(join(import.meta.dir, "results"), result, machine)) {
    process.stderr.write(`  wrote ${file}\n`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}
