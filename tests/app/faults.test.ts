import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Fault } from "../../src/sandbox/faults/model.ts";
import { type Stack, startStack } from "./stack.ts";

/** One of three nodes fails while callers keep coming: none of them may notice. */
const REQUESTS_PER_SECOND = 200;
const DURATION_MS = 3_000;
const FAULT_AT_MS = 500;

let stack: Stack;
let key: string;
beforeAll(async () => {
  stack = await startStack();
  key = (await stack.service.key({ windowLimit: 1_000_000 })).secret;
});
afterAll(() => stack.stop());

async function callOnce(n: number): Promise<string> {
  const address = `0x${n.toString(16).padStart(40, "0")}`;
  const answer = await fetch(`${stack.service.base}/rpc/5042`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: n,
      method: "eth_getBalance",
      params: [address, "latest"],
    }),
  });
  const { id, result, error } = (await answer.json()) as {
    id?: number;
    result?: string;
    error?: unknown;
  };
  const right = answer.status === 200 && id === n && result !== undefined && error === undefined;
  return right ? "ok" : `${answer.status} ${JSON.stringify(error ?? result)}`;
}

/** Open loop: requests leave on time whether or not earlier ones were answered. */
async function loadWhile(breakNode: () => Promise<void>): Promise<string[]> {
  const answers: Promise<string>[] = [];
  const startMs = performance.now();
  let broken = false;
  for (;;) {
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs >= DURATION_MS) return Promise.all(answers);
    if (!broken && elapsedMs >= FAULT_AT_MS) {
      broken = true;
      await breakNode();
    }
    while (answers.length < (elapsedMs / 1_000) * REQUESTS_PER_SECOND) {
      answers.push(callOnce(answers.length + 1).catch((error: unknown) => String(error)));
    }
    await Bun.sleep(2);
  }
}

const faults: Record<string, Fault[] | "killed"> = {
  "is killed": "killed",
  "hangs for ever": [{ kind: "hang" }],
  "answers 500": [{ kind: "status", status: 500 }],
  "answers garbage": [{ kind: "garbage" }],
  "cuts its answers": [{ kind: "truncate" }],
  "is rate limited": [{ kind: "rateLimit", as: "rpcError" }],
};

describe("of three nodes", () => {
  test.each(Object.entries(faults))(
    "one %s at 200 requests per second: no request fails",
    async (_, fault) => {
      const node = stack.nodes[0]!;
      const answers = await loadWhile(() =>
        fault === "killed" ? node.stop() : node.setFaults(fault),
      );
      await (fault === "killed" ? node.restart() : node.setFaults([]));
      expect(answers.length).toBeGreaterThan(500);
      expect(answers.filter((answer) => answer !== "ok")).toEqual([]);
    },
    60_000,
  );

  test("all are gone: 502 in the contract's words, and service again once one is back", async () => {
    await Promise.all(stack.nodes.map((node) => node.stop()));
    expect(await callOnce(1)).toStartWith("502");
    await Promise.all(stack.nodes.map((node) => node.restart()));
    const deadline = performance.now() + 5_000;
    let last = "";
    while (last !== "ok" && performance.now() < deadline) last = await callOnce(2);
    expect(last).toBe("ok");
  }, 60_000);
});
