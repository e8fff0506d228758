import { readFileSync } from "node:fs";
import { arch, cpus, loadavg, platform, release, totalmem } from "node:os";

/** What the results depend on besides the code. */
export interface MachineState {
  readonly at: string;
  readonly revision: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  /** Load average of the last minute before the run; other work distorts results. */
  readonly loadAverage: number;
  /** Cores of the measured server, and of everything else. */
  readonly placement: string;
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * The kinds of process of a run. Servers and load have cores of their own where that can be
 * arranged; what may be `anywhere` is left to the system.
 */
export type Place = "server" | "load" | "anywhere";

const taskset = Bun.which("taskset");
const cores = cpus().length;
const canPin = taskset !== null && cores > 1;

function coresOf(place: Place): string {
  if (place === "server") return "0";
  if (place === "anywhere") return `0-${cores - 1}`;
  return cores === 2 ? "1" : `1-${cores - 1}`;
}

/** Puts a command on its place's cores. @param options - idle: runs only when nothing else does */
export function placed(
  place: Place,
  command: readonly string[],
  options: { readonly idle?: boolean } = {},
): string[] {
  const chrt = options.idle ? Bun.which("chrt") : null;
  return [
    ...(canPin ? ["taskset", "--cpu-list", coresOf(place)] : []),
    ...(chrt ? [chrt, "--idle", "0"] : []),
    ...command,
  ];
}

/** Moves a running process, with all its threads, to a place's cores. */
export function moveTo(place: Place, pid: number): void {
  if (!canPin) return;
  Bun.spawnSync(["taskset", "--all-tasks", "--pid", "--cpu-list", coresOf(place), String(pid)]);
}

/** Takes down the machine's state as it is now. */
export function machineState(): MachineState {
  const model = cpus()[0]?.model.trim() ?? "unknown";
  return {
    at: new Date().toISOString(),
    revision: revision(),
    cpu: model,
    cores,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    system: `${platform()} ${release()} ${arch()}`,
    loadAverage: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    placement: canPin
      ? `server on core ${coresOf("server")}, load and upstream on ${coresOf("load")}`
      : "not pinned",
    versions: {
      bun: Bun.version,
      elysia: packageVersion("elysia"),
      nginx: firstMatch(["nginx", "-v"], /nginx\/(\S+)/),
      wrk: firstMatch(["wrk", "-v"], /wrk (\S+)/),
    },
  };
}

function revision(): string {
  const commit = output(["git", "rev-parse", "--short", "HEAD"]).trim();
  // A copy without its history is answered with words.
  if (!/^[0-9a-f]+$/.test(commit)) return "unknown";
  const isChanged = output(["git", "status", "--porcelain", "--", "src"]).trim() !== "";
  return commit + (isChanged ? " with changes" : "");
}

function packageVersion(name: string): string {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")).version;
}

function firstMatch(command: string[], pattern: RegExp): string {
  return pattern.exec(output(command))?.[1] ?? "absent";
}

function output([name = "", ...args]: string[]): string {
  const path = Bun.which(name);
  if (!path) return "";
  const { stdout, stderr } = Bun.spawnSync([path, ...args]);
  return `${stdout}${stderr}`;
}
