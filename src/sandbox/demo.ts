import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createApiClient } from "./apiClient.ts";
import { walkBridge } from "./bridgeFlow.ts";
import type { SandboxInfo } from "./info.ts";
import { answers } from "./nodes.ts";
import { infoFile, startSandbox } from "./start.ts";
import { type Report, walkSwap } from "./swapFlow.ts";

/** `bun run demo`: walks the whole flow on a running sandbox, or on one started for it. */
const SANDBOX_DIR = join(import.meta.dir, "../../.sandbox");

async function main(): Promise<void> {
  const running = await runningSandbox();
  if (running) {
    console.log(`using the sandbox at ${running.baseUrl}\n`);
    return walk(running);
  }
  console.log("no sandbox is running; starting one");
  const sandbox = await startSandbox({
    dir: SANDBOX_DIR,
    onStep: (text) => console.log(`  ${text}`),
  });
  console.log("");
  try {
    await walk(sandbox.info());
  } finally {
    await sandbox.stop();
  }
}

async function walk(info: SandboxInfo): Promise<void> {
  let steps = 0;
  const api = createApiClient(info);
  const report: Report = (step, result) => {
    console.log(`${String(++steps).padStart(2)}. ${step.padEnd(20)} ${result}`);
  };
  await walkSwap(api, info, report);
  await walkBridge(api, info, report);
  console.log("\nevery step held");
}

/** The sandbox that describes itself in the directory, if it still answers. */
async function runningSandbox(): Promise<SandboxInfo | undefined> {
  let info: SandboxInfo;
  try {
    info = JSON.parse(readFileSync(infoFile(SANDBOX_DIR), "utf8"));
  } catch {
    return undefined;
  }
  return info.baseUrl !== null && (await answers(`${info.baseUrl}/ready`)) ? info : undefined;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`\nfailed: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  },
);
