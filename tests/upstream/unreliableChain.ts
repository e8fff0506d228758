import { type Random, seededRandom } from "../../src/lib/clock.ts";

/** Chain that the nodes are of; its registry entry is the built-in one. */
export const UNRELIABLE_CHAIN = 84_532;

const LOG_BYTES = 200_000;
const BLOCK_MS = 500;
const startedAtMs = Date.now();

const hex = (value: number) => `0x${value.toString(16)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
const head = () => 1_000 + Math.floor((Date.now() - startedAtMs) / BLOCK_MS);

/** A node that fails in every way now and then, keeps nothing, and whose head moves on. */
export function startUnreliableNode(seed: number) {
  const random = seededRandom(seed);
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 5,
    async fetch(request) {
      const body = (await request.json()) as Call | Call[];
      const calls = Array.isArray(body) ? body : [body];
      if (calls.some(({ method }) => method === "eth_chainId")) {
        return Response.json(answer(calls[0] as Call));
      }
      const failure = await fail(random, calls[0]?.id ?? 0);
      if (failure) return failure;
      return Response.json(Array.isArray(body) ? calls.map(answer) : answer(body));
    },
  });
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

async function fail(random: Random, id: number): Promise<Response | undefined> {
  const luck = random();
  if (luck < 0.01) return new Response("<html>", { status: 502 });
  if (luck < 0.015) return new Response("", { status: 429 });
  if (luck < 0.02) return Response.json({ id: id + 1, result: 1 });
  if (luck < 0.025) return Response.json({ id, error: { code: -32_603, message: "internal" } });
  if (luck < 0.03) {
    return new Response(`{"id":${id},"resu`, { headers: { connection: "close" } });
  }
  if (luck < 0.032) await Bun.sleep(2_000);
  else if (luck < 0.3) await Bun.sleep(luck * 10);
  return undefined;
}

function answer({ id, method, params = [] }: Call) {
  return { jsonrpc: "2.0", id, result: result(method, params) };
}

function result(method: string, params: readonly unknown[]): unknown {
  if (method === "eth_chainId") return hex(UNRELIABLE_CHAIN);
  if (method === "eth_blockNumber") return hex(head());
  if (method === "eth_getLogs") return [{ data: `0x${"ab".repeat(LOG_BYTES / 2)}` }];
  if (method !== "eth_getBlockByNumber") return `0x${"ab".repeat(100)}`;
  const number = String(params[0]).startsWith("0x") ? Number(params[0]) : head();
  if (number > head()) return null;
  return {
    number: hex(number),
    timestamp: hex(Math.floor(startedAtMs / 1_000) + number),
    hash: word(number),
    parentHash: word(number - 1),
    logsBloom: `0x${"0".repeat(512)}`,
    transactions: [],
  };
}
