import type { Chain } from "../../../src/chains/index.ts";
import { type Random, seededRandom } from "../../../src/lib/clock.ts";
import {
  createUpstreamPool,
  type CallOptions,
  type UpstreamPool,
  type UpstreamPoolDependencies,
} from "../../../src/upstream/index.ts";
import { Cancel, type CancelSignal } from "../../../src/lib/cancel.ts";
import type { Connect } from "../../../src/upstream/connection.ts";
import { registryOf } from "../node.ts";
import { textOf } from "../send.ts";

/** A chain that exists in memory: one block after another, some with logs. */
export class SimulatedChain {
  head: number;
  /** Blocks from one log to the next. */
  logEvery = 1;
  /** Changes the hashes of all blocks from a number on. */
  fork = { from: Number.POSITIVE_INFINITY, name: "" };

  constructor(head: number) {
    this.head = head;
  }

  hash(number: number): string {
    const fork = number >= this.fork.from ? this.fork.name : "";
    return `0x${new Bun.CryptoHasher("sha256").update(`${number}${fork}`).digest("hex")}`;
  }

  block(number: number) {
    const parentHash = number === 0 ? `0x${"0".repeat(64)}` : this.hash(number - 1);
    return { number: hex(number), hash: this.hash(number), parentHash, transactions: [] };
  }

  /** The only log of a block that has one. */
  log(number: number) {
    return {
      address: `0x${"ab".repeat(20)}`,
      topics: [],
      data: "0x",
      blockNumber: hex(number),
      transactionHash: this.hash(number),
      blockHash: this.hash(number),
      logIndex: "0x0",
    };
  }
}

/** One node of a simulated chain. */
export interface SimulatedNode {
  /** Blocks it is behind, asked at each request. */
  lag: () => number;
  /** Every request it got, but for those of the watch. */
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[];
  /** Answers in place of the usual ones; undefined: as usual. */
  override: ((method: string, params: readonly unknown[]) => unknown) | undefined;
  /** Part of the requests that get status 500. */
  faultRate: number;
  /** How many did so far. */
  faults: number;
  /** Longest time an answer takes, ms; each takes a random part of it. */
  latencyMs: number;
  logLimits: { maxBlocks?: number; maxResults?: number; text?: (max: number) => string };
}

/** An error to answer with, from an override. */
export class RpcFailure {
  constructor(
    readonly code: number,
    readonly message: string,
  ) {}
}

/** A pool over simulated nodes. */
export interface Simulation {
  readonly chain: SimulatedChain;
  readonly nodes: SimulatedNode[];
  readonly pool: UpstreamPool;
  /** Sends a call and gives the result, or throws the node's error. */
  ask(method: string, params?: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /** Requests of a method at all nodes. */
  count(method: string): number;
}

export interface SimulationOptions {
  readonly lags?: readonly (() => number)[];
  readonly head?: number;
  readonly seed?: number;
  readonly blockTimeMs?: number;
  readonly finality?: Chain["finality"];
  readonly dependencies?: Partial<UpstreamPoolDependencies>;
}

export const hex = (number: number) => `0x${number.toString(16)}`;

/** Makes a chain, its nodes and a pool over them. */
export function simulate(options: SimulationOptions = {}): Simulation {
  const { lags = [() => 0], head = 10_000, seed = 1, blockTimeMs = 1_000 } = options;
  const chain = new SimulatedChain(head);
  const random = seededRandom(seed);
  const dice = { latency: seededRandom(seed + 1), fault: seededRandom(seed + 2) };
  const nodes = lags.map((lag): SimulatedNode => ({
    lag,
    calls: [],
    override: undefined,
    faultRate: 0,
    faults: 0,
    latencyMs: 0,
    logLimits: {},
  }));
  const registry = registryOf(
    nodes.map((_, index) => `http://node-${index}.test`),
    { blockTimeMs, ...(options.finality && { finality: options.finality }) },
  );
  const connect: Connect = (url) => {
    const node = nodes[Number(/\d+/.exec(url.hostname)?.[0])];
    if (!node) throw new Error("no such node");
    return {
      post(body, _limits, target) {
        const cancel = new Cancel();
        answerHttp(chain, node, dice, textOf(body), cancel).then(
          (answer) => cancel.aborted || target.answered(answer),
          () => cancel.aborted || target.faulted("unreachable"),
        );
        return { drop: () => cancel.abort() };
      },
      close() {},
    };
  };
  const pool = createUpstreamPool({ registry, random, connect, ...options.dependencies });
  return {
    chain,
    nodes,
    pool,
    async ask(method, params = [], callOptions = {}) {
      const reply = await pool.call(1, { method, params: JSON.stringify(params) }, callOptions);
      const { result, error } = JSON.parse(Buffer.from(reply.bytes).toString());
      if (error) throw new Error(`${error.code} ${error.message}`);
      return result;
    },
    count: (method) =>
      nodes.reduce(
        (sum, { calls }) => sum + calls.filter((one) => one.method === method).length,
        0,
      ),
  };
}

async function answerHttp(
  chain: SimulatedChain,
  node: SimulatedNode,
  dice: { readonly latency: Random; readonly fault: Random },
  body: string,
  signal: CancelSignal,
) {
  const { id, method, params } = JSON.parse(body);
  if (method !== "eth_chainId") node.calls.push({ method, params });
  const head = chain.head - node.lag();
  const isWatched = method === "eth_chainId" || method === "eth_blockNumber";
  const fails = !isWatched && dice.fault() < node.faultRate;
  if (node.latencyMs > 0) await Bun.sleep(dice.latency() * node.latencyMs);
  else await Promise.resolve();
  signal.throwIfAborted();
  if (fails) {
    node.faults++;
    return http(500, "");
  }
  const result =
    (await node.override?.(method, params)) ?? usualAnswer(chain, node, head, method, params);
  const member = result instanceof RpcFailure ? { error: { ...result } } : { result };
  return http(200, JSON.stringify({ jsonrpc: "2.0", id, ...member }));
}

function http(status: number, body: string) {
  return { status, retryAfter: null, bytes: new TextEncoder().encode(body) };
}

function usualAnswer(
  chain: SimulatedChain,
  node: SimulatedNode,
  head: number,
  method: string,
  params: readonly unknown[],
): unknown {
  const at = (value: unknown) => (value === "latest" || value === undefined ? head : Number(value));
  switch (method) {
    case "eth_chainId":
      return "0x1";
    case "eth_blockNumber":
      return hex(head);
    case "eth_getBlockByNumber": {
      const number = params[0] === "finalized" ? head - 64 : at(params[0]);
      return number > head ? null : chain.block(number);
    }
    case "eth_getLogs":
      return answerLogs(chain, node, head, params[0] as { fromBlock: string; toBlock?: string });
    case "eth_call":
    case "eth_getBalance": {
      const number = at(params[1]);
      if (number > head) return new RpcFailure(-32_000, "header not found");
      return hex(1_000_000 + number);
    }
    default:
      return "0x5";
  }
}

function answerLogs(
  chain: SimulatedChain,
  { logLimits: { maxBlocks, maxResults, text } }: SimulatedNode,
  head: number,
  filter: { fromBlock: string; toBlock?: string },
): unknown {
  const from = Number(filter.fromBlock);
  const to =
    filter.toBlock === undefined || filter.toBlock === "latest" ? head : Number(filter.toBlock);
  const blocks = to - from + 1;
  if (maxBlocks !== undefined && blocks > maxBlocks) {
    const message = text?.(maxBlocks) ?? `eth_getLogs is limited to a ${maxBlocks} block range`;
    return new RpcFailure(-32_602, message);
  }
  const last = Math.min(to, head);
  if (maxResults !== undefined && last - from + 1 > maxResults) {
    return new RpcFailure(-32_005, `query returned more than ${maxResults} results`);
  }
  const first = Math.ceil(from / chain.logEvery) * chain.logEvery;
  const logs = Math.max(0, Math.floor((last - first) / chain.logEvery) + 1);
  return Array.from({ length: logs }, (_, index) => chain.log(first + index * chain.logEvery));
}
