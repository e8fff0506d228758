import { type Access, type NewKey, UNLIMITED_WINDOW } from "../../src/access/index.ts";
import type { Database } from "../../src/db/index.ts";
import { seededRandom } from "../../src/lib/clock.ts";

/** Chains the load asks for; each has a node of its own. */
const CHAINS = [5042, 84532] as const;
const REQUEST_TIMEOUT_MS = 30_000;

/** Sums by `key id, operation, chain`. */
export type Sums = Map<string, { requests: number; cu: number }>;

/** What a run of load did and saw. */
export interface Tally {
  sent: number;
  /** Requests with a status line, by status. */
  readonly statuses: Map<number, number>;
  /** What 2xx answers must have cost, by the prices of the contract. */
  readonly charged: Sums;
  /** Sum of all `X-CU-Cost`. */
  receiptsCu: number;
}

interface Shot {
  readonly key: { readonly id: string; readonly secret: string };
  readonly operation: string;
  readonly chainId: number;
  readonly items: number;
  readonly cu: number;
  readonly path: string;
  readonly body?: unknown;
}

/** A node per chain that answers everything; URLs by chain id. */
export function startNodes() {
  const servers = CHAINS.map((chainId) => {
    const reply = ({ id, method }: { id: unknown; method: string }) => {
      const block = { number: "0x64", hash: `0x${"1".repeat(64)}`, timestamp: "0x1" };
      const results: Record<string, unknown> = {
        eth_chainId: `0x${chainId.toString(16)}`,
        eth_blockNumber: "0x64",
        eth_getBlockByNumber: { ...block, parentHash: `0x${"0".repeat(64)}`, transactions: [] },
      };
      return { jsonrpc: "2.0", id, result: results[method] ?? "0x1" };
    };
    return Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const body = await request.json();
        return Response.json(Array.isArray(body) ? body.map(reply) : reply(body));
      },
    });
  });
  return {
    urls: Object.fromEntries(CHAINS.map((id, at) => [id, `http://127.0.0.1:${servers[at]?.port}`])),
    stop: () => Promise.all(servers.map((server) => server.stop(true))),
  };
}

/** Keys of every kind: open ones, one with a small window, a small allowance, without a scope. */
export async function makeKeys({ keys }: Access) {
  const make = async (input: Partial<NewKey>) => {
    const scopes = ["read", "swaps"];
    const grants = {
      environment: "test" as const,
      scopes,
      windowLimit: UNLIMITED_WINDOW,
      ...input,
    };
    const { key, secret } = await keys.create(grants, "test");
    return { id: key.id, secret };
  };
  return {
    open: await Promise.all([make({}), make({}), make({}), make({})]),
    limited: await make({ windowLimit: 200 }),
    poor: await make({ cuAllowance: 500 }),
    scopeless: await make({ scopes: ["bridges"] }),
  };
}

export type LoadKeys = Awaited<ReturnType<typeof makeKeys>>;

/**
 * Sends random requests from many clients at once: calls, batches, reads, and every kind that is
 * refused. Ends after `requests`, or when the service is gone.
 * @param onAnswer - called after every answer that arrived
 */
export async function drive(options: {
  readonly origin: string;
  readonly keys: LoadKeys;
  readonly requests: number;
  readonly clients: number;
  readonly seed: number;
  readonly onAnswer?: (tally: Tally) => void;
}): Promise<Tally> {
  const tally: Tally = { sent: 0, statuses: new Map(), charged: new Map(), receiptsCu: 0 };
  const random = seededRandom(options.seed);
  const client = async () => {
    while (tally.sent < options.requests) {
      tally.sent++;
      const shot = aim(random, options.keys);
      let answer: Response;
      try {
        answer = await fire(options.origin, shot);
        count(tally, shot, answer);
        await answer.bytes();
      } catch {
        return;
      }
      options.onAnswer?.(tally);
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  return tally;
}

/** The ledger of these keys, in the form of a tally. */
export async function readLedger(database: Database, keys: LoadKeys): Promise<Sums> {
  const sums: Sums = new Map();
  for (const { id } of [...keys.open, keys.limited, keys.poor, keys.scopeless]) {
    for (const row of await database.usage.sums(id, 0, 10_000_000)) {
      const { operation, chainId, requests, cu } = row;
      sums.set(`${id} ${operation} ${chainId}`, { requests, cu });
    }
  }
  return sums;
}

function aim(random: () => number, keys: LoadKeys): Shot {
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const chainId = pick(CHAINS);
  const call = { jsonrpc: "2.0", id: 1, method: "eth_gasPrice", params: [] };
  const rpc = { operation: "rpc", chainId, items: 1, cu: 1, path: `/rpc/${chainId}`, body: call };
  const dexes = { operation: "dexes", chainId: 0, items: 1, cu: 1, path: "/swap/dexes" };
  const key = pick(keys.open);
  const items = 2 + Math.floor(random() * 4);
  const luck = random();
  if (luck < 0.45) return { ...rpc, key };
  if (luck < 0.65) return { ...dexes, key };
  if (luck < 0.72)
    return { ...rpc, key, items, cu: items, body: Array.from({ length: items }, () => call) };
  if (luck < 0.77) return { ...dexes, key, cu: 0, operation: "usage", path: "/usage" };
  if (luck < 0.82) return { ...rpc, key, body: { jsonrpc: "1.0" } };
  if (luck < 0.86) return { ...rpc, key, path: "/rpc/999999999" };
  if (luck < 0.9) return { ...rpc, key: keys.scopeless };
  if (luck < 0.93) return { ...dexes, key: { id: "nobody", secret: "sk_test_wrong" } };
  return luck < 0.97 ? { ...rpc, key: keys.limited } : { ...dexes, key: keys.poor };
}

function fire(origin: string, { key, path, body }: Shot): Promise<Response> {
  return fetch(`${origin}/api/public${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": key.secret },
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

function count(tally: Tally, shot: Shot, answer: Response): void {
  tally.statuses.set(answer.status, (tally.statuses.get(answer.status) ?? 0) + 1);
  tally.receiptsCu += Number(answer.headers.get("x-cu-cost") ?? 0);
  if (answer.status !== 200 || shot.cu === 0) return;
  const name = `${shot.key.id} ${shot.operation} ${shot.chainId}`;
  const sum = tally.charged.get(name) ?? { requests: 0, cu: 0 };
  tally.charged.set(name, { requests: sum.requests + shot.items, cu: sum.cu + shot.cu });
}
