import { join } from "node:path";
import { freePorts } from "../../src/sandbox/ports.ts";
import type { Rig } from "./rig.ts";

/** How a scripted node behaves; left out: it answers at once and always. */
export interface NodeScript {
  /** Time before every answer. */
  readonly delayMs?: number;
  /** Share of requests answered with HTTP 500, 0 to 1. */
  readonly errorShare?: number;
  /** Never answers; the node's own identity and head excepted, so that it looks alive. */
  readonly hangs?: boolean;
}

/** A scripted node. */
export interface ScriptedNode {
  readonly port: number;
  readonly url: string;
}

/** Starts scripted nodes of chain 5042, all in one process. */
export async function startNodes(
  rig: Rig,
  scripts: readonly NodeScript[] = [{}],
): Promise<ScriptedNode[]> {
  const ports = freePorts(scripts.length);
  const nodes = scripts.map((script, index) => ({ ...script, port: ports[index] }));
  await rig.serve({
    name: `nodes-${rig.group.children.length}`,
    place: "load",
    command: [process.execPath, join(import.meta.dir, "../servers/node.ts"), JSON.stringify(nodes)],
    port: ports[0] ?? 0,
  });
  return ports.map((port) => ({ port, url: `http://127.0.0.1:${port}` }));
}

/** Starts one scripted node that behaves. */
export async function startNode(rig: Rig): Promise<ScriptedNode> {
  const [node] = await startNodes(rig);
  if (!node) throw new Error("no node was started");
  return node;
}
