import { join } from "node:path";
import { parseArgs } from "node:util";
import { curlExamples } from "./curl.ts";
import { SandboxInUseError } from "./lock.ts";
import type { SandboxInfo } from "./info.ts";
import { infoFile, type Sandbox, startSandbox } from "./start.ts";

/** `bun run sandbox [--fresh]`: `PORT` chooses the service's port, 3000 when unset. */
const SANDBOX_DIR = join(import.meta.dir, "../../.sandbox");
const PARENT_CHECK_MS = 1_000;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { fresh: { type: "boolean", default: false } } });
  const stopAsked = untilStopAsked();
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5);
  const sandbox = await startSandbox({
    dir: SANDBOX_DIR,
    port: readPort(process.env["PORT"]),
    fresh: values.fresh,
    onStep: (text) => console.log(`${seconds()} s  ${text}`),
  });
  print(sandbox.info());
  await waitForEnd(sandbox, stopAsked);
}

async function waitForEnd(sandbox: Sandbox, stopAsked: Promise<string>): Promise<void> {
  const reason = await Promise.race([
    stopAsked,
    sandbox.serviceEnded.then(() => "the service ended; see .sandbox/logs/service.log"),
  ]);
  console.log(`\nstopping: ${reason}`);
  await sandbox.stop();
  process.exit(reason.startsWith("the service") ? 1 : 0);
}

/** Settles when the sandbox shall stop. While it is still starting, the process just ends. */
function untilStopAsked(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => resolve(signal));
    }
    // Under `bun run`, the runner can be killed without passing the signal on.
    const parent = process.ppid;
    if (process.env["npm_lifecycle_event"] === undefined) return;
    setInterval(() => {
      if (process.ppid !== parent) resolve("the script runner ended");
    }, PARENT_CHECK_MS).unref();
  });
}

function readPort(text: string | undefined): number {
  const port = Number(text ?? "3000");
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`PORT must be a port number, not ${text}`);
}

function print(info: SandboxInfo): void {
  console.log(`\nCauseway is ready at ${info.baseUrl}`);
  console.log(
    `  console        ${info.baseUrl}/console (sign in with a wallet, or the admin token)`,
  );
  console.log(`  API reference  ${info.baseUrl}/swagger\n`);
  console.log("API keys");
  for (const [name, key] of Object.entries(info.keys ?? {})) {
    console.log(`  ${name.padEnd(8)} ${key}`);
  }
  console.log(`  admin    ${info.adminToken}\n\nTry`);
  for (const { title, command } of curlExamples(info)) console.log(`  # ${title}\n  ${command}\n`);
  console.log(`Everything else: ${infoFile(".sandbox")}. Ctrl-C stops it all.`);
}

main().catch((error: unknown) => {
  if (error instanceof SandboxInUseError) console.error(error.message);
  else console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
