import { Value } from "@sinclair/typebox/value";
import { FaultScriptSchema } from "./model.ts";
import type { FaultNode } from "./node.ts";

/** Time for an answer to leave before its own listener is closed. */
const ANSWER_LEAVES_MS = 20;

/**
 * Answers `GET /faults`, `POST /faults`, `GET /ledger` and `DELETE /ledger`.
 * @returns undefined when the request is not for the control routes
 */
export async function controlResponse(
  node: FaultNode,
  request: Request,
): Promise<Response | undefined> {
  const path = request.url.slice(request.url.indexOf("/", "http://".length));
  if (path === "/faults") {
    if (request.method === "POST") return setFaults(node, request);
    return Response.json({ faults: node.faults() });
  }
  if (path !== "/ledger") return undefined;
  if (request.method === "DELETE") node.ledger.reset();
  return Response.json(node.ledger.counts());
}

async function setFaults(node: FaultNode, request: Request): Promise<Response> {
  const body: unknown = await request.json().catch(() => undefined);
  if (!Value.Check(FaultScriptSchema, body)) {
    const first = Value.Errors(FaultScriptSchema, body).First();
    const error = `${first?.path ?? ""}: ${first?.message ?? "not JSON"}`;
    return Response.json({ error }, { status: 400 });
  }
  // A script that closes this very listener must not cut its own answer.
  if (body.faults.some(({ kind }) => kind === "down")) {
    setTimeout(() => void node.setFaults(body.faults, body.seed), ANSWER_LEAVES_MS);
    return Response.json({ faults: body.faults.map((fault) => ({ fault, hits: 0 })) });
  }
  await node.setFaults(body.faults, body.seed);
  return Response.json({ faults: node.faults() });
}
