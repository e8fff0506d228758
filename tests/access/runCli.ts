import { join } from "node:path";

const cli = join(import.meta.dir, "../../src/cli.ts");

/** Runs `bun run <args>` of the command line on a database and waits for its end. */
export async function runCli(databaseUrl: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, cli, ...args], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, stdout, stderr };
}
