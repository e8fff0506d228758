import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createRegistry } from "../../src/chains/index.ts";
import { solanaDevnet } from "../../src/chains/networks/solana.ts";
import { encodeBase58 } from "../../src/lib/base58.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { sandboxAccounts } from "../../src/sandbox/accounts.ts";
import type { Fault } from "../../src/sandbox/faults/model.ts";
import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import { classifyAnswer } from "../../src/upstream/classify.ts";
import { createUpstreamPool, type UpstreamPool } from "../../src/upstream/index.ts";
import {
  isSolanaCluster,
  judgeSolanaError,
  readSolanaSignature,
} from "../../src/upstream/solana.ts";
import { callNode, type LocalSolana, signedTransfer, startSolana } from "../support/solana.ts";

const { wallets } = sandboxAccounts();
const [alice, bob] = [wallets[0]!.solana, wallets[1]!.solana];
let solana: LocalSolana;
let nodes: FaultNode[];
let pool: UpstreamPool;

beforeAll(async () => {
  solana = await startSolana();
});
afterAll(() => solana.stop());
beforeEach(() => {
  nodes = [1, 2, 3].map(() => startFaultNode({ target: solana.url }));
  pool = createUpstreamPool({
    registry: createRegistry({
      useDefaultUpstreams: false,
      override: { [solanaDevnet.id]: { upstreams: nodes.map(({ url }) => ({ url })) } },
    }),
  });
});
afterEach(async () => {
  pool.close();
  await Promise.all(nodes.map((node) => node.stop()));
});

async function call(method: string, ...params: unknown[]) {
  const reply = await pool.call(solanaDevnet.id, { method, params: JSON.stringify(params) });
  return JSON.parse(new TextDecoder().decode(reply.bytes));
}

async function transfer(lamports: bigint) {
  const { value } = (await call("getLatestBlockhash", { commitment: "processed" })).result;
  const options = { from: alice, to: bob.address, lamports, blockhash: value.blockhash };
  return signedTransfer(options);
}
const balance = async () =>
  (await callNode(solana.url, "getBalance", [bob.address])).result.value as number;

/** What the pool makes of a node's error. */
const verdict = (code: number, message: string, data?: unknown) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, error: { code, message, data } });
  const http = { status: 200, retryAfter: null, bytes: new TextEncoder().encode(body) };
  const got = classifyAnswer(http as never, 7, systemClock, judgeSolanaError);
  return got.kind === "retry" ? `${got.reason}${got.fault ? ", its fault" : ""}` : got.kind;
};

describe("errors of Solana nodes", () => {
  const cases: [number, string, string][] = [
    [-32_005, "Node is behind by 42 slots", "node-error, its fault"],
    [-32_005, "Node is unhealthy", "node-error, its fault"],
    [-32_005, "rate limit exceeded", "limited"],
    [429, "Too many requests for a specific RPC call", "limited"],
    [-32_002, "Transaction simulation failed: Blockhash not found", "missing-data"],
    [-32_002, "Transaction simulation failed: custom program error: 0x1", "deliver"],
    [-32_003, "Transaction signature verification failure", "deliver"],
    [-32_004, "Block not available for slot 5", "missing-data"],
    [-32_007, "Slot 5 was skipped, or missing due to ledger jump", "missing-data"],
    [-32_009, "Slot 5 was skipped, or missing in long-term storage", "missing-data"],
    [-32_010, "excluded from account secondary indexes", "unsupported-method"],
    [-32_011, "Transaction history is not available from this node", "missing-data"],
    [-32_014, "Block status not yet available for slot 5", "missing-data"],
    [-32_015, "Transaction version (0) is not supported", "deliver"],
    [-32_016, "Minimum context slot has not been reached", "missing-data"],
    [-32_601, "Method not found", "unsupported-method"],
    [-32_602, "Invalid param: WrongSize", "deliver"],
    [-32_603, "Internal error", "node-error, its fault"],
  ];
  for (const [code, message, want] of cases) {
    test(`${code} ${message}: ${want}`, () => expect(verdict(code, message)).toBe(want));
  }
});

describe("a transaction's id", () => {
  const signature = Uint8Array.from({ length: 64 }, (_, index) => index + 1);
  const bytes = Uint8Array.from([1, ...signature, 9, 9, 9]);

  test("is its first signature, in either encoding, base58 by default", () => {
    const id = encodeBase58(signature);
    expect(readSolanaSignature([encodeBase58(bytes)])).toBe(id);
    expect(readSolanaSignature([encodeBase58(bytes), { encoding: "base58" }])).toBe(id);
    expect(readSolanaSignature([bytes.toBase64(), { encoding: "base64" }])).toBe(id);
  });

  test("there is none in what is no transaction", () => {
    const none = [[], [1], ["!"], ["11"], [bytes.toBase64()], ["1".repeat(3_000)]];
    for (const params of none) expect(readSolanaSignature(params)).toBeUndefined();
    const short = bytes.subarray(0, 40).toBase64();
    expect(readSolanaSignature([short, { encoding: "base64" }])).toBeUndefined();
  });
});

test("a cluster is told by its genesis hash, a local one by not being public", () => {
  const mainnet = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
  const devnet = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
  expect(isSolanaCluster(devnet, solanaDevnet.id)).toBe(true);
  expect(isSolanaCluster(mainnet, solanaDevnet.id)).toBe(false);
  expect(isSolanaCluster("GH7ome3EiwEr7tu9JuTh2dpYWBJK3z69Xm1ZE3MEE6JC", solanaDevnet.id)).toBe(
    true,
  );
});

const behind: Fault = { kind: "rpcError", code: -32_005, message: "Node is behind by 99 slots" };

describe("through the pool", () => {
  test("the head is the slot", async () => {
    await call("getHealth");
    await call("getHealth");
    const slot = (await callNode(solana.url, "getSlot")).result as number;
    expect(Math.abs((pool.head(solanaDevnet.id) ?? 0) - slot)).toBeLessThan(10);
  });

  test("nodes that are behind or limit us are left for the one that answers", async () => {
    await nodes[0]!.setFaults([behind]);
    await nodes[1]!.setFaults([{ kind: "rateLimit", as: "rpcError" }]);
    for (let i = 0; i < 20; i++) {
      expect((await call("getBalance", bob.address)).result.value).toBeGreaterThan(0);
    }
    const states = pool.status().map(({ state }) => state);
    expect(states.filter((state) => state === "active").length).toBeGreaterThanOrEqual(1);
  });

  test("a node whose slot is far behind is not asked while others are ahead", async () => {
    const asked: string[] = [];
    const late = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const text = await request.text();
        const { method } = JSON.parse(text) as { method: string };
        asked.push(method);
        const answer = await fetch(solana.url, { method: "POST", body: text });
        const reply = (await answer.json()) as { result: unknown };
        if (method === "getSlot") reply.result = (reply.result as number) - 500;
        return Response.json(reply);
      },
    });
    const upstreams = [late.url.href, nodes[0]!.url, nodes[1]!.url].map((url) => ({ url }));
    const lagging = createUpstreamPool({
      registry: createRegistry({
        useDefaultUpstreams: false,
        override: { [solanaDevnet.id]: { upstreams } },
      }),
    });
    const ask = () => lagging.call(solanaDevnet.id, { method: "getVersion", params: undefined });
    // Until every node has been looked at, any may be asked.
    while (lagging.status().some(({ head }) => head === undefined)) await ask();
    asked.length = 0;
    for (let i = 0; i < 50; i++) await ask();
    expect(asked).not.toContain("getVersion");
    lagging.close();
    await late.stop(true);
  });

  test("getHealth is what the healthiest node says", async () => {
    await nodes[0]!.setFaults([behind]);
    for (let i = 0; i < 5; i++) expect((await call("getHealth")).result).toBe("ok");
  });

  test("a node of another public cluster is not used", async () => {
    const other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const { id } = (await request.json()) as { id: number };
        const result = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
        return Response.json({ jsonrpc: "2.0", id, result });
      },
    });
    const mixed = createUpstreamPool({
      registry: createRegistry({
        useDefaultUpstreams: false,
        override: {
          [solanaDevnet.id]: { upstreams: [{ url: other.url.href }, { url: nodes[0]!.url }] },
        },
      }),
    });
    for (let i = 0; i < 5; i++) {
      const reply = await mixed.call(solanaDevnet.id, { method: "getHealth", params: undefined });
      expect(reply.upstream).toBe(new URL(nodes[0]!.url).host);
    }
    mixed.close();
    await other.stop(true);
  });
});

describe("sendTransaction", () => {
  test("sent again, and by many at once, it is the same success and lands once", async () => {
    const { base64, signature } = await transfer(70_000n);
    const before = await balance();
    const sends = Array.from({ length: 10 }, () =>
      call("sendTransaction", base64, { encoding: "base64" }),
    );
    const answers = await Promise.all(sends);
    answers.push(await call("sendTransaction", base64, { encoding: "base64" }));
    expect(answers.map(({ result }) => result)).toEqual(Array(11).fill(signature));
    expect(await balance()).toBe(before + 70_000);
  });

  test("in base58, without options, likewise", async () => {
    const { base58, signature } = await transfer(71_000n);
    for (let i = 0; i < 2; i++)
      expect((await call("sendTransaction", base58)).result).toBe(signature);
  });

  test("a node that loses the answer after taking it does not make it fail", async () => {
    const { base64, signature } = await transfer(72_000n);
    const before = await balance();
    await Promise.all(
      nodes
        .slice(1)
        .map((node) => node.setFaults([{ kind: "truncate", methods: ["sendTransaction"] }])),
    );
    expect((await call("sendTransaction", base64, { encoding: "base64" })).result).toBe(signature);
    expect(await balance()).toBe(before + 72_000);
  });

  test("a blockhash that expired after the transaction landed still is success", async () => {
    const { base64, signature } = await transfer(73_000n);
    await call("sendTransaction", base64, { encoding: "base64" });
    const expired: Fault = {
      kind: "rpcError",
      code: -32_002,
      message: "Transaction simulation failed: Blockhash not found",
      methods: ["sendTransaction"],
    };
    await Promise.all(nodes.map((node) => node.setFaults([expired])));
    expect((await call("sendTransaction", base64, { encoding: "base64" })).result).toBe(signature);
    const other = await transfer(74_000n);
    const { error } = await call("sendTransaction", other.base64, { encoding: "base64" });
    expect(error).toMatchObject({ code: -32_002 });
  });

  test("a refusal in simulation reaches the caller with its data", async () => {
    const { base64 } = await transfer(10n ** 18n);
    const { error } = await call("sendTransaction", base64, { encoding: "base64" });
    expect(error).toMatchObject({
      code: -32_002,
      data: { err: { InstructionError: [0, { Custom: 1 }] } },
    });
  });
});
