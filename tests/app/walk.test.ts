import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type OperationId, operations } from "../../src/access/index.ts";
import { accounts } from "../support/sandbox.ts";
import { startLocalService } from "./service.ts";
import { type Stack, startStack } from "./stack.ts";

/**
 * Every public route under every condition the gate and the body reader know: status, body and
 * headers are the contract's, and nothing is charged that was not answered with a 2xx.
 */
let stack: Stack;
beforeAll(async () => {
  stack = await startStack([5042, 5042002, 84532]);
  const key = await stack.service.key();
  const answer = await send({ ...callOf("bridge"), key: key.secret });
  ({ transactionHash } = (await answer.json()) as { transactionHash: string });
});
afterAll(() => stack.stop());

/** Hash of a transfer that was started. */
let transactionHash: string;

interface Call {
  readonly path: string;
  readonly method?: string;
  readonly key?: string;
  readonly body?: BodyInit;
  readonly headers?: Record<string, string>;
}

const send = ({ path, method = "GET", key, body, headers = {} }: Call) =>
  fetch(stack.service.origin + path, {
    method,
    headers: { ...(key && { "x-api-key": key }), "content-type": "application/json", ...headers },
    ...(body !== undefined && { body }),
  });

const pathOf = (id: OperationId) =>
  operations[id].path
    .replace("{chainId}", "5042")
    .replace("{transactionHash}", transactionHash ?? "");
const ids = Object.keys(operations) as OperationId[];
const posts = ids.filter((id) => operations[id].method === "POST");
const scoped = ids.filter((id) => operations[id].scope !== undefined);

const validBodies: Record<string, () => unknown> = {
  quote: () => ({ inputToken: "USDC", outputToken: "EURC", inputAmount: "1000000" }),
  "build-tx": () => ({
    quote: {
      inputToken: "USDC",
      outputToken: "EURC",
      inputAmount: "1000000",
      outputAmount: "1",
      dexId: "venue-a",
    },
    userAddress: accounts.wallets[0]?.address,
  }),
  balance: () => ({
    address: accounts.wallets[0]?.address,
    chainId: "Arc",
    rpcUrl: stack.nodes[0]?.url,
  }),
  rpc: () => ({ jsonrpc: "2.0", id: 7, method: "eth_chainId", params: [] }),
  bridge: () => ({
    fromChainId: 5042002,
    toChainId: 84532,
    amount: "10.00",
    token: "USDC",
    recipientAddress: accounts.wallets[0]?.address,
  }),
};

const callOf = (id: OperationId): Call => {
  const body = validBodies[id]?.();
  return {
    path: pathOf(id),
    method: operations[id].method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
};

const invalidRequest = (id: unknown) => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32600, message: "Invalid Request" },
});

async function expectEnvelope(answer: Response, status: number, error: string, code: string) {
  expect(answer.status).toBe(status);
  expect(await answer.json()).toEqual({ success: false, error });
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("x-error-code")).toBe(code);
  expect(answer.headers.get("x-request-id")).toBeTruthy();
}

const expectWindow = (answer: Response, limit: number, remaining: number) => {
  expect(answer.headers.get("x-ratelimit-limit")).toBe(String(limit));
  expect(answer.headers.get("x-ratelimit-remaining")).toBe(String(remaining));
  const reset = Number(answer.headers.get("x-ratelimit-reset"));
  expect(reset - Date.now() / 1_000).toBeWithin(-1, 62);
};

/** What the ledger holds for a key. */
const chargedTo = async (keyId: string) =>
  stack.service.access.meter.usage(keyId, 0, Date.now() + 86_400_000);

describe.each(ids)("%s", (id) => {
  test("without a key: 401, whatever the body, and nothing about limits", async () => {
    const { body: _, ...bare } = callOf(id);
    const broken = operations[id].method === "POST" ? { body: "{" } : {};
    for (const call of [callOf(id), { ...bare, ...broken }]) {
      const answer = await send(call);
      await expectEnvelope(answer, 401, "Invalid API key", "INVALID_API_KEY");
      expect(answer.headers.has("x-ratelimit-limit")).toBe(false);
    }
  });

  test.each(["nonsense", `sk_test_${"0".repeat(48)}`, "sk_test_", "🔑".repeat(0)])(
    "with the bad key %p: 401",
    async (key) => {
      const answer = await send({ ...callOf(id), headers: { authorization: `Bearer ${key}` } });
      await expectEnvelope(answer, 401, "Invalid API key", "INVALID_API_KEY");
    },
  );

  test("with a revoked key: 401", async () => {
    const key = await stack.service.key();
    await stack.service.access.keys.revoke(key.id, "test");
    const answer = await send({ ...callOf(id), key: key.secret });
    await expectEnvelope(answer, 401, "Invalid API key", "INVALID_API_KEY");
  });

  test("with the window used up: 429 with Retry-After, and nothing charged", async () => {
    const key = await stack.service.key({ windowLimit: 1 });
    await send({ path: "/api/public/nowhere", key: key.secret });
    const answer = await send({ ...callOf(id), key: key.secret });
    await expectEnvelope(answer, 429, "Rate limit exceeded", "RATE_LIMIT_EXCEEDED");
    expectWindow(answer, 1, 0);
    expect(Number(answer.headers.get("retry-after"))).toBeWithin(1, 61);
    expect(await chargedTo(key.id)).toEqual([]);
  });

  test("with a wrong method: 405 and Allow", async () => {
    const key = await stack.service.key();
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const answer = await send({ path: pathOf(id), method, key: key.secret });
      await expectEnvelope(answer, 405, "Method not allowed", "METHOD_NOT_ALLOWED");
      expect(answer.headers.get("allow")).toContain(operations[id].method);
    }
    expect(await chargedTo(key.id)).toEqual([]);
  });
});

describe.each(scoped)("%s", (id) => {
  test("without its scope: 403 that names what is granted, even for a broken body", async () => {
    const { scope, method } = operations[id];
    const others = (["read", "swaps", "bridges", "quotes"] as const).filter((s) => s !== scope);
    const key = await stack.service.key({ scopes: others });
    const { keys } = stack.service.access;
    const granted = (await keys.show(key.id))?.scopes.join(", ");
    const broken = method === "POST" ? { body: "{" } : {};
    for (const call of [callOf(id), { ...callOf(id), ...broken }]) {
      await expectEnvelope(
        await send({ ...call, key: key.secret }),
        403,
        `Scope '${scope}' is required for this endpoint. Granted scopes: ${granted}.`,
        "SCOPE_REQUIRED",
      );
    }
    expect(await chargedTo(key.id)).toEqual([]);
  });
});

const emptyObjectMessages: Record<string, string> = {
  quote: "Missing required fields",
  "build-tx": "Missing userAddress",
  balance: "Missing required field: address",
  bridge: "Token must be USDC for CCTP bridge",
};
const wrongTypes: Record<string, unknown> = {
  quote: { inputToken: 1, outputToken: {}, inputAmount: 5 },
  "build-tx": { quote: "x", userAddress: 5 },
  balance: { address: 1, chainId: 2, rpcUrl: 3 },
  bridge: { fromChainId: "a", toChainId: {}, amount: 1, token: 1, recipientAddress: 1 },
};

describe.each(posts)("%s", (id) => {
  test("with broken JSON, an empty object, wrong types: 400, and nothing charged", async () => {
    const key = await stack.service.key();
    const bodies = ["{", "", "[", "nul", "\u0000", JSON.stringify(wrongTypes[id] ?? 5), "{}"];
    for (const body of bodies) {
      const answer = await send({ ...callOf(id), body, key: key.secret });
      expect(answer.status).toBe(400);
      expect(answer.headers.get("x-cu-cost")).toBe("0");
      expect(answer.headers.get("x-error-code")).toMatch(/^[A-Z_]+$/);
      const parsed = await answer.json();
      if (id === "rpc") expect(parsed).toEqual(invalidRequest(null));
      else if (body === "{}") {
        expect(parsed).toEqual({ success: false, error: emptyObjectMessages[id] });
      } else expect(parsed).toEqual({ success: false, error: expect.any(String) });
    }
    expect(await chargedTo(key.id)).toEqual([]);
  });

  test("with a body of 2 MiB: 413, declared or chunked", async () => {
    const key = await stack.service.key();
    const large = new Uint8Array(2 * 1_048_576).fill(0x20);
    const chunked = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 32; i++) controller.enqueue(large.subarray(0, 65_536));
        controller.close();
      },
    });
    for (const body of [large, chunked]) {
      const answer = await send({ ...callOf(id), body, key: key.secret });
      if (id === "rpc") {
        expect(answer.status).toBe(413);
        expect(await answer.json()).toEqual(invalidRequest(null));
        expect(answer.headers.get("x-error-code")).toBe("BODY_TOO_LARGE");
      } else await expectEnvelope(answer, 413, "Request body too large", "BODY_TOO_LARGE");
    }
    expect(await chargedTo(key.id)).toEqual([]);
  });
});

describe("paths", () => {
  test("an unknown path of the API: 404 with a key, 401 without", async () => {
    const key = await stack.service.key();
    for (const path of [
      "/api/public/nowhere",
      "/api/public",
      "/api/public/swap",
      "/api/public/rpc",
    ]) {
      const answer = await send({ path, key: key.secret });
      await expectEnvelope(answer, 404, "Not found", "ROUTE_NOT_FOUND");
      expect((await send({ path })).status).toBe(401);
    }
  });

  test("an unknown path elsewhere: 404", async () => {
    await expectEnvelope(await send({ path: "/nowhere" }), 404, "Not found", "ROUTE_NOT_FOUND");
  });
});

describe("a valid request", () => {
  test.each(ids)("%s answers 200, tells its cost, and is charged exactly that", async (id) => {
    const key = await stack.service.key();
    const answer = await send({ ...callOf(id), key: key.secret });
    expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
    const { cu } = operations[id];
    expect(answer.headers.get("x-cu-cost")).toBe(String(cu));
    expectWindow(answer, 600, 599);
    const rows = await chargedTo(key.id);
    expect(rows.map((row) => [row.operation, row.requests, row.cu])).toEqual(
      cu === 0 ? [] : [[id, 1, cu]],
    );
  });

  test("bridge without an operator key answers 500 and charges nothing", async () => {
    const keyless = await startLocalService([], stack.feeds);
    const key = await keyless.key();
    const answer = await fetch(`${keyless.base}/bridge`, {
      method: "POST",
      headers: { "x-api-key": key.secret },
      body: JSON.stringify(validBodies["bridge"]?.()),
    });
    await expectEnvelope(answer, 500, "Internal bridge execution failure", "BRIDGE_FAILED");
    expect(await keyless.access.meter.usage(key.id, 0, Date.now() + 86_400_000)).toEqual([]);
    await keyless.stop();
  });

  test("both ways of sending the key work", async () => {
    const key = await stack.service.key();
    for (const headers of [
      { authorization: `Bearer ${key.secret}` },
      { "x-api-key": key.secret },
    ]) {
      expect((await send({ path: "/api/public/swap/dexes", headers })).status).toBe(200);
    }
  });
});
