import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/index.ts";
import { testWithServers } from "../support/installed.ts";
import { temporaryDirectory } from "../support/processes.ts";
import { type Cluster, createReplica, startCluster, statusOf, until } from "./support.ts";

setDefaultTimeout(120_000);

let cluster: Cluster | undefined;
afterAll(() => cluster?.close());

const MAIN = join(import.meta.dir, "../../src/main.ts");
/** Processes that one started, by what the system says of every process. */
const childrenOf = (parent: number) =>
  readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && parentOf(name) === parent)
    .map(Number);
const parentOf = (pid: string) => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^PPid:\s*([0-9]+)/m.exec(status)?.[1]);
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
};

const isGone = (pid: number) => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};
const onSqlite = (name: string) => ({
  DATABASE_URL: `file:${join(temporaryDirectory(), name)}`,
  ADMIN_TOKEN: "sqlite-test-token",
  LOG_LEVEL: "silent",
});

testWithServers(
  "workers share a port and act as one; one that dies is replaced; none outlives the first",
  async () => {
    cluster = await startCluster({ replicas: 0 });
    const service = createReplica({ ...cluster.environment, WORKERS: "2" });
    await service.start();
    const { pid } = service.child();
    await until(async () => (await service.metric("causeway_replicas")) === 2, "two workers");
    const { id, secret } = await cluster.newKey({ windowLimit: 100 });
    const all = await Promise.all(
      Array.from({ length: 400 }, () => statusOf(service.origin, secret)),
    );
    expect(all.filter((status) => status === 200)).toHaveLength(100);
    expect((await cluster.ledger(id)).requests).toBe(100);

    const [first, ...others] = childrenOf(pid);
    process.kill(first!, "SIGKILL");
    await until(() => {
      const now = childrenOf(pid);
      return (
        now.length === 2 && !now.includes(first!) && others.every((each) => now.includes(each))
      );
    }, "the worker to be replaced");

    const workers = childrenOf(pid);
    await service.kill();
    await until(() => workers.every(isGone), "the workers to end");
  },
);

test("on SQLite a second process on the port fails, and says why", async () => {
  const service = createReplica(onSqlite("first.db"));
  await service.start();
  const { port } = new URL(service.origin);
  const second = Bun.spawn([process.execPath, MAIN], {
    env: { ...process.env, HOST: "127.0.0.1", PORT: port, ...onSqlite("second.db") },
    stdout: "ignore",
    stderr: "pipe",
  });
  const message = await new Response(second.stderr).text();
  expect(await second.exited).toBe(1);
  expect(message).toContain(`port ${port} in use`);
  expect(message).toContain("WORKERS");
  await service.kill();
});

test.each([
  [{ WORKERS: "2" }, "WORKERS needs DATABASE_URL=postgres://… and REDIS_URL=redis://…"],
  [{ WORKERS: "2", DATABASE_URL: "postgres://h/x" }, "WORKERS needs DATABASE_URL"],
  [{ WORKERS: "0" }, "WORKERS must be an integer from 1 to 64"],
  [{ REDIS_URL: "http://h" }, "REDIS_URL must be redis://…"],
])("%p is refused at start", (env, message) => {
  expect(() => loadConfig(env)).toThrow(message);
});

test("a process told to stop serves on while balancers turn away, then ends by itself", async () => {
  const service = createReplica({ ...onSqlite("drain.db"), DRAIN_NOTICE_MS: "60000" });
  await service.start();
  const child = service.child();
  process.kill(child.pid, "SIGTERM");
  const ready = () => fetch(`${service.origin}/ready`);
  await until(async () => (await ready()).status === 503, "readiness to end");
  const answer = await fetch(`${service.origin}/api/public/prices`);
  expect(answer.status).toBe(401);
  expect(answer.headers.get("connection")).toBe("close");
  expect((await fetch(`${service.origin}/health`)).status).toBe(200);
  // Told again, it waits no longer.
  process.kill(child.pid, "SIGTERM");
  expect(await child.exited).toBe(0);
});
