import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { runScenario, type RunOptions } from "./runScenario.ts";
import type { Result, Scenario } from "./scenario.ts";
import { rpc } from "./scenarios/rpc.ts";

/**
 * Runs scenarios with this tree and another revision side by side, in turns. The revision is
 * checked out under `.bench/`, so the tree itself is not touched.
 * @param ref - any name git knows a commit by
 */
export async function* compareRevisions(
  root: string,
  ref: string,
  scenarios: readonly Scenario[],
  options: RunOptions,
): AsyncGenerator<Result> {
  const commit = git(root, ["rev-parse", "--short", `${ref}^{commit}`]);
  const dir = join(root, ".bench", "revisions", commit);
  if (!existsSync(dir)) {
    options.progress(`checking out ${commit}`);
    mkdirSync(join(dir, ".."), { recursive: true });
    git(root, ["worktree", "prune"]);
    git(root, ["worktree", "add", "--detach", dir, commit]);
  }
  installDependencies(root, dir);
  const base = { label: `causeway ${ref}`, dir };
  const sources = [
    base,
    ...options.sources.map((source) => ({ ...source, label: "causeway now" })),
  ];
  for (const scenario of scenarios.length > 0 ? scenarios : [rpc]) {
    yield await runScenario(scenario, { ...options, sources, withReferences: false });
  }
}

/** Uses this tree's dependencies where the revision has the same ones. */
function installDependencies(root: string, dir: string): void {
  if (existsSync(join(dir, "node_modules"))) return;
  const isSame = git(root, ["hash-object", "bun.lock"]) === git(dir, ["hash-object", "bun.lock"]);
  if (isSame) return symlinkSync(join(root, "node_modules"), join(dir, "node_modules"), "dir");
  run(dir, [process.execPath, "install", "--frozen-lockfile"]);
}

function git(dir: string, args: readonly string[]): string {
  return run(dir, ["git", ...args]);
}

function run(cwd: string, command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${String(stderr).trim()}`);
  return String(stdout).trim();
}
