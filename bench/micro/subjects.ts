import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccess, UNLIMITED_WINDOW } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createSnapshot, v2AmountOut, v3SwapExactIn } from "../../src/market/index.ts";
import { withId } from "../../src/rpc/answer.ts";
import { readRequestBody } from "../../src/rpc/request.ts";
import { findRoutes } from "../../src/swap/routing/index.ts";
import { classifyAnswer } from "../../src/upstream/classify.ts";
import type { RpcReply } from "../../src/upstream/types.ts";
import { results } from "../servers/answers.ts";
import { addressOf, ladder, poolsOfPair } from "./pools.ts";

/** A hot function, alone. */
export interface Subject {
  readonly name: string;
  /** Calls it `times` times. */
  run(times: number): void | Promise<void>;
}

/** Charges made in one turn of the event loop, as under load. */
const CHARGES_PER_TURN = 64;
const encoder = new TextEncoder();
const ADDRESS = "0x28c6c06298d514db089934071355e5743bf21d60";

/** Every subject. @returns them, and how to clean up after them */
export async function createSubjects(): Promise<{ subjects: Subject[]; close: () => void }> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-micro-"));
  const database = openDatabase(`file:${join(dir, "micro.db")}`);
  const access = await createAccess(database, loadConfig({}).access);
  const { key, secret } = await access.keys.create(
    { environment: "test", scopes: ["read"], windowLimit: UNLIMITED_WINDOW },
    "bench",
  );
  const charge = { keyId: key.id, operation: "rpc", chainId: 5042, requests: 1, cu: 1 } as const;
  const subjects: Subject[] = [
    {
      name: "key check, a key seen before",
      async run(times) {
        for (let left = times; left > 0; left--) await access.keys.verify(secret);
      },
    },
    {
      name: "rate window, one request",
      async run(times) {
        for (let left = times; left > 0; left--) await access.window.take(key.id, 1, 1e9);
      },
    },
    {
      name: `charge, ${CHARGES_PER_TURN} in one commit, each`,
      async run(times) {
        for (let left = times; left > 0; left -= CHARGES_PER_TURN) {
          await Promise.all(
            Array.from({ length: CHARGES_PER_TURN }, () => access.meter.charge(charge)),
          );
        }
      },
    },
    ...proxySubjects(),
    ...marketSubjects(),
  ];
  const close = () => {
    database.close();
    rmSync(dir, { recursive: true });
  };
  return { subjects, close };
}

function proxySubjects(): Subject[] {
  const call = `{"jsonrpc":"2.0","id":1000000001,"method":"eth_getBalance","params":["${ADDRESS}","latest"]}`;
  const answerOf = (method: string) => {
    const text = `{"jsonrpc":"2.0","id":77,"result":${results.get(method)}}`;
    return { status: 200, retryAfter: null, bytes: encoder.encode(text) };
  };
  const small = answerOf("eth_getBalance");
  const block = answerOf("eth_getBlockByNumber");
  const request = encoder.encode(call);
  const id = { bytes: encoder.encode("1000000001"), start: 0, end: 10 };
  const target = new Uint8Array(16_384);
  const reply: RpcReply = {
    bytes: small.bytes,
    id: { start: 22, end: 24 },
    isError: false,
    upstream: "node",
    attempts: 1,
    source: "upstream",
    hedged: false,
    retried: false,
  };
  const blockReply = { ...reply, bytes: block.bytes };
  return [
    repeat("read a JSON-RPC request", () => readRequestBody(request, 100)),
    repeat("classify an answer of 60 bytes", () => classifyAnswer(small, 77, systemClock)),
    repeat("classify a block of 9 kB", () => classifyAnswer(block, 77, systemClock)),
    repeat("put the caller's id into 60 bytes", () => withId(reply, id).copyTo(target, 0)),
    repeat("put the caller's id into 9 kB", () => withId(blockReply, id).copyTo(target, 0)),
  ];
}

function marketSubjects(): Subject[] {
  const kept = { numerator: 997n, denominator: 1_000n };
  const pair = { reserveIn: 5_000_000_000_000n, reserveOut: 4_300_000_000_000n, kept };
  const pool = ladder();
  const [tokenIn, connector, tokenOut] = [addressOf(1), addressOf(2), addressOf(3)];
  const pools = [
    ...poolsOfPair(tokenIn, tokenOut, 0),
    ...poolsOfPair(tokenIn, connector, 10),
    ...poolsOfPair(connector, tokenOut, 20),
  ];
  const block = { number: 1n, hash: "0x", parentHash: "0x", timestampMs: 0 } as const;
  const routing = { lookup: createSnapshot(5042, block, pools), connectors: [connector] };
  const trade = { tokenIn, tokenOut, amountIn: 3n * 10n ** 18n };
  return [
    repeat("v2 swap", () => v2AmountOut(pair, 1_000_000_000n)),
    repeat("v3 swap within one range", () => v3SwapExactIn(pool, true, 10n ** 15n)),
    repeat("v3 swap over eight ticks", () => v3SwapExactIn(pool, true, 28n * 10n ** 18n)),
    repeat("route a trade over nine pools, split", () => findRoutes(routing, trade)),
  ];
}

/** What a function returns is kept, so that the compiler cannot leave the call out. */
export let sink: unknown;

function repeat(name: string, call: () => unknown): Subject {
  return {
    name,
    run(times) {
      for (let left = times; left > 0; left--) sink = call();
    },
  };
}
