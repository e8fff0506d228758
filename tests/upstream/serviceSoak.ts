import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/sandbox/ports.ts";
import { type CallerCounts, isAnswered, post } from "./serviceCallers.ts";
import type { Inspection } from "./serviceInspect.ts";
import { startUnreliableNode, UNRELIABLE_CHAIN } from "./unreliableChain.ts";

/** What a soak of the whole service showed. */
export interface ServiceSoakResult extends CallerCounts {
  /** Resident memory of the service, MiB, at even moments of the run. */
  readonly residentMib: readonly number[];
  /** Of the idle service, before and after the load. */
  readonly socketsBefore: number;
  readonly socketsAfter: number;
  readonly before: Inspection;
  readonly after: Inspection;
}

const SAMPLES = 40;
const READY_MS = 30_000;
/** Keep-alive connections and the last retries end within this. */
const SETTLE_MS = 20_000;
const root = join(import.meta.dir, "../..");

/** The service as an operator runs it, over unreliable nodes, in a process of its own. */
async function startService(dir: string, upstreams: readonly string[]) {
  const port = freePort();
  const config = join(dir, "config.json");
  const networks = {
    useDefaultUpstreams: false,
    override: { [UNRELIABLE_CHAIN]: { upstreams: upstreams.map((url) => ({ url })) } },
  };
  writeFileSync(config, JSON.stringify({ networks }));
  const inspectionFile = join(dir, "inspection.json");
  const env = {
    ...process.env,
    PORT: String(port),
    DATABASE_URL: `file:${join(dir, "causeway.db")}`,
    CAUSEWAY_CONFIG: config,
    LOG_LEVEL: "fatal",
    ADMIN_TOKEN: "soak".repeat(8),
    BUN_CONFIG_MAX_HTTP_REQUESTS: "16384",
    INSPECTION_FILE: inspectionFile,
  };
  const made = Bun.spawnSync(
    [
      process.execPath,
      join(root, "src/cli.ts"),
      ..."keys create --env test --scopes read --limit none --json".split(" "),
    ],
    { env, stderr: "inherit" },
  );
  const { key } = JSON.parse(made.stdout.toString()) as { key: string };
  const preload = join(import.meta.dir, "serviceInspect.ts");
  const child = Bun.spawn([process.execPath, "--preload", preload, join(root, "src/main.ts")], {
    env,
    stdout: "ignore",
    stderr: "inherit",
  });
  const url = `http://127.0.0.1:${port}/api/public/rpc/${UNRELIABLE_CHAIN}`;
  const deadline = performance.now() + READY_MS;
  const call = { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] };
  while (!(await post(url, key, call).then(isAnswered, () => false))) {
    if (performance.now() > deadline) throw new Error("the service did not start");
    await Bun.sleep(100);
  }
  return { child, url, key, inspectionFile };
}

/** What a process outside can see of another. */
function residentMib(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kib) / 1_024);
}

function openSockets(pid: number): number {
  const fds = `/proc/${pid}/fd`;
  const isSocket = (fd: string) => {
    try {
      return readlinkSync(`${fds}/${fd}`).startsWith("socket:");
    } catch {
      return false;
    }
  };
  return readdirSync(fds).filter(isSocket).length;
}

async function inspect(pid: number, file: string): Promise<Inspection> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  for (;;) {
    await Bun.sleep(50);
    const text = await Bun.file(file)
      .text()
      .catch(() => "");
    if (text) return JSON.parse(text) as Inspection;
  }
}

/** The callers are a process of their own, with whose end all connections to the service end. */
async function runCallers(url: string, key: string, forMs: number): Promise<CallerCounts> {
  const file = join(import.meta.dir, "serviceCallers.ts");
  const callers = Bun.spawn([process.execPath, file, url, key, String(forMs)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  return JSON.parse(await new Response(callers.stdout).text()) as CallerCounts;
}

/**
 * Loads the whole service through HTTP and WebSocket for a time.
 * @param forMs - length of the run
 */
async function soakService(forMs: number): Promise<ServiceSoakResult> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-soak-"));
  const nodes = [1, 2, 3].map(startUnreliableNode);
  const service = await startService(
    dir,
    nodes.map(({ port }) => `http://127.0.0.1:${port}/`),
  );
  const { child, url, key, inspectionFile } = service;
  try {
    const socketsBefore = openSockets(child.pid);
    const before = await inspect(child.pid, inspectionFile);
    const resident: number[] = [];
    const sampling = setInterval(() => resident.push(residentMib(child.pid)), forMs / SAMPLES);
    const counts = await runCallers(url, key, forMs);
    clearInterval(sampling);
    const settledBy = performance.now() + SETTLE_MS;
    while (performance.now() < settledBy && openSockets(child.pid) > socketsBefore) {
      await Bun.sleep(200);
    }
    return {
      ...counts,
      residentMib: resident,
      socketsBefore,
      socketsAfter: openSockets(child.pid),
      before,
      after: await inspect(child.pid, inspectionFile),
    };
  } finally {
    child.kill("SIGKILL");
    await Promise.all(nodes.map((node) => node.stop(true)));
    rmSync(dir, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const minutes = Number(process.argv[2] ?? 20);
  const result = await soakService(minutes * 60_000);
  process.stdout.write(`${JSON.stringify({ minutes, ...result })}\n`);
  process.exit(0);
}
