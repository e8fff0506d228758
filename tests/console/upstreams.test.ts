import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeService, type Service } from "../../src/compose.ts";
import { loadConfig } from "../../src/config/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import type { UpstreamStatus } from "../../src/upstream/index.ts";
import { startNode, type TestNode } from "../upstream/node.ts";

const ADMIN_TOKEN = "operator-token";
const SECRET = "s3cr3tk3y0123456789abcdef";
const directory = mkdtempSync(join(tmpdir(), "causeway-test-"));
const databaseFile = join(directory, "causeway.db");

let nodes: TestNode[];
let service: Service;
let origin: string;

/** The service over chain 1 with the first node configured, on the same database each time. */
async function start(): Promise<void> {
  const override = { "1": { upstreams: [{ url: `${nodes[0]!.url}/${SECRET}` }] } };
  const config = loadConfig(
    { DATABASE_URL: `file:${databaseFile}`, ADMIN_TOKEN, CAUSEWAY_CONFIG: "test.json" },
    () => JSON.stringify({ networks: { useDefaultUpstreams: false, override } }),
  );
  service = await composeService(config, silentLogger, () => true);
  service.front.listen({ hostname: "127.0.0.1", port: 0 });
  origin = `http://127.0.0.1:${service.front.port}`;
}
async function stop(): Promise<void> {
  await service.front.stop(true);
  service.close();
}

beforeAll(async () => {
  nodes = [startNode(), startNode(), startNode()];
  await start();
});
afterAll(async () => {
  await stop();
  await Promise.all(nodes.map((node) => node.kill()));
  rmSync(directory, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly text: string;
  readonly body: { success: boolean; data?: unknown; error?: string };
}

async function send(
  method: string,
  path = "",
  body?: unknown,
  token = ADMIN_TOKEN,
): Promise<Answer> {
  const response = await fetch(`${origin}/console/api/upstreams${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { status, headers } = response;
  return { status, code: headers.get("x-error-code"), text, body: JSON.parse(text) };
}

const listed = async () => (await send("GET")).body.data as UpstreamStatus[];
const urlOf = (index: number) => `${nodes[index]!.url}/${SECRET}`;

/** Runs the operator's command as a process of its own. */
async function command(...args: string[]) {
  const child = Bun.spawn([process.execPath, "src/cli.ts", "upstreams", ...args], {
    cwd: join(import.meta.dir, "../.."),
    env: { ...process.env, CAUSEWAY_URL: origin, ADMIN_TOKEN },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exit: await child.exited, out, err };
}

describe("without the operator's token", () => {
  test.each([
    ["GET", ""],
    ["POST", ""],
    ["POST", "/abc/drain"],
    ["DELETE", "/abc"],
  ])("%s %s: 401", async (method, path) => {
    expect(await send(method, path, method === "POST" ? {} : undefined, "wrong")).toMatchObject({
      status: 401,
      code: "INVALID_ADMIN_TOKEN",
    });
  });
});

describe("wrong requests change nothing", () => {
  test.each<[string, unknown, number, string]>([
    ["no URL", { chainId: 1 }, 400, "MISSING_FIELD"],
    ["no URL at all", { chainId: 1, url: "ftp://x" }, 400, "INVALID_FIELD"],
    ["a URL that is none", { chainId: 1, url: "http://" }, 400, "INVALID_FIELD"],
    ["an unknown member", { chainId: 1, url: "http://x.io", weight: 3 }, 400, "INVALID_FIELD"],
    ["a chain nobody knows", { chainId: 987_654, url: "http://x.io" }, 400, "UNSUPPORTED_CHAIN"],
    ["a chain that is no number", { chainId: "1", url: "http://x.io" }, 400, "UNSUPPORTED_CHAIN"],
    ["nobody there", { chainId: 1, url: "http://127.0.0.1:1/" }, 400, "UPSTREAM_REFUSED"],
  ])("%s", async (_, body, status, code) => {
    expect(await send("POST", "", body)).toMatchObject({ status, code });
    expect(await listed()).toHaveLength(1);
  });

  test("an id nobody has", async () => {
    for (const answer of [await send("POST", "/abc/drain"), await send("DELETE", "/abc")]) {
      expect(answer).toMatchObject({ status: 404, code: "UNKNOWN_UPSTREAM" });
    }
  });

  test("a node of another chain", async () => {
    nodes[2]!.setChainId(5);
    const answer = await send("POST", "", { chainId: 1, url: urlOf(2) });
    expect(answer).toMatchObject({ status: 400, code: "UPSTREAM_REFUSED" });
    expect(answer.body.error).toContain("another chain");
    nodes[2]!.setChainId(1);
  });
});

describe("what the operator sees", () => {
  test("every upstream with its score, the score's parts, its pace and why it is not used", async () => {
    await service.pool.call(1, { method: "eth_call", params: "[]" });
    const [only] = await listed();
    expect(only).toMatchObject({
      chainId: 1,
      state: "active",
      parts: { errorMs: 0, lagMs: 0 },
      pace: { heldMs: 0, refusals: 0 },
      lacks: [],
      head: 100,
    });
    expect(only?.costMs).toBeCloseTo(
      Object.values(only!.parts).reduce((total, part) => total + part, 0),
      6,
    );
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    for (const name of [
      "attempts_total",
      "calls_total",
      "retries_total",
      "hedges_total",
      "cost_ms",
      "cost_part_ms",
      "state",
      "held_seconds",
      "buffered_bytes",
      "refusals",
    ]) {
      expect(metrics).toContain(`causeway_upstream_${name}`);
    }
    expect(metrics).toContain('part="latency"');
    expect(metrics).not.toContain(SECRET);
  });
});

describe("changes", () => {
  test("are made over HTTP, kept over restarts, and show no secret", async () => {
    const added = await send("POST", "", { chainId: 1, url: urlOf(1), maxConcurrent: 9 });
    expect(added.body.data).toMatchObject({ chainId: 1, state: "active", maxConcurrent: 9 });
    const { id } = added.body.data as UpstreamStatus;
    const configured = (await listed()).find((one) => one.id !== id);
    expect((await send("DELETE", `/${configured!.id}`)).body.data).toEqual({
      id: configured!.id,
      removed: true,
    });
    expect((await listed()).map((one) => one.id)).toEqual([id]);

    await stop();
    for (const file of [databaseFile, `${databaseFile}-wal`]) {
      expect(readFileSync(file, { encoding: "latin1" })).not.toContain(SECRET);
    }
    await start();
    expect((await listed()).map((one) => [one.id, one.maxConcurrent])).toEqual([[id, 9]]);
    expect((await service.pool.call(1, { method: "eth_call", params: "[]" })).isError).toBe(false);

    const back = await send("POST", "", { chainId: 1, url: urlOf(0) });
    expect((back.body.data as UpstreamStatus).id).toBe(configured!.id);
    expect((await send("POST", `/${id}/drain`)).status).toBe(200);
    expect((await listed()).find((one) => one.id === id)?.state).toBe("draining");
    await stop();
    await start();
    expect((await listed()).map((one) => one.id)).toEqual([configured!.id]);
    expect(added.text + back.text).not.toContain(SECRET);
  }, 60_000);

  test("are made by command too", async () => {
    const added = await command("add", "1", urlOf(2), "--batch-items", "20", "--json");
    expect(added).toMatchObject({ exit: 0, err: "" });
    const { id, batchItems } = JSON.parse(added.out) as UpstreamStatus;
    expect(batchItems).toBe(20);
    const all = JSON.parse((await command("list", "--json")).out) as UpstreamStatus[];
    expect(all.map((one) => one.id)).toContain(id);
    expect((await command("list")).out).toContain(id);
    expect(JSON.parse((await command("drain", id, "--json")).out)).toEqual({ id, draining: true });
    expect(JSON.parse((await command("remove", id, "--json")).out)).toEqual({ id, removed: true });
    expect((await listed()).map((one) => one.id)).not.toContain(id);

    const again = await command("remove", id);
    expect(again).toMatchObject({ exit: 1, out: "" });
    expect(again.err).toContain("No upstream has this id");
    expect(added.out + again.err).not.toContain(SECRET);
  }, 60_000);
});
