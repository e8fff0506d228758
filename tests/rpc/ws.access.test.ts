import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { errorHandler, gate } from "../../src/access/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { registryOf, startNode, type TestNode } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";
import { connect, openSocket, socketUrl } from "./socket.ts";

let node: TestNode;
let proxy: Proxy;

beforeAll(async () => {
  node = startNode();
  proxy = await startProxy(registryOf([node.url]));
});
afterAll(async () => {
  await proxy.stop();
  await node.kill();
});

const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Asks for an upgrade by hand, so that a refusal can be read. */
async function ask(target: Proxy, headers: Record<string, string>, chain: string | number = 1) {
  const response = await fetch(target.url(chain), { headers: { ...handshake, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const works = async (url: string, options?: unknown) => {
  const client = await connect(url, options);
  expect((await client.call("eth_call")).result).toBe("0x5");
  await client.close();
  return client.raw.protocol;
};

const insertPassword = (secret: string) => socketUrl(proxy).replace("//", `//key:${secret}@`);

const envelope = (error: string) => JSON.stringify({ success: false, error });

describe("the key opens a socket", () => {
  test("in x-api-key", () => works(socketUrl(proxy), { headers: { "x-api-key": proxy.secret } }));
  test("in Authorization", () =>
    works(socketUrl(proxy), { headers: { authorization: `Bearer ${proxy.secret}` } }));
  test("as the password of the URL", () => works(insertPassword(proxy.secret)));
  test("as a subprotocol, which is not the one selected", async () => {
    expect(await works(socketUrl(proxy), ["jsonrpc", `key.${proxy.secret}`])).toBe("jsonrpc");
    expect(await works(socketUrl(proxy), [`key.${proxy.secret}`, "jsonrpc"])).toBe("jsonrpc");
  });
  test("but not in the query", async () => {
    for (const name of ["key", "apiKey", "api_key", "x-api-key", "token"]) {
      await expect(connect(`${socketUrl(proxy)}?${name}=${proxy.secret}`)).rejects.toThrow();
    }
  });
  test("and not as password or subprotocol of an ordinary request", async () => {
    const basic = Buffer.from(`key:${proxy.secret}`).toString("base64");
    for (const headers of [
      { authorization: `Basic ${basic}` },
      { "sec-websocket-protocol": `jsonrpc, key.${proxy.secret}` },
    ]) {
      const init = { method: "POST", headers: headers as Record<string, string>, body: "{}" };
      expect((await fetch(proxy.url(), init)).status).toBe(401);
    }
  });
});

describe("a refused upgrade answers like a request", () => {
  test.each([
    ["no key", {}],
    ["an unknown key", { "x-api-key": `sk_test_${"0".repeat(48)}` }],
    ["an empty password", { authorization: "Basic Og==" }],
    ["a key alone among the subprotocols", { "sec-websocket-protocol": "key.sk_test_x" }],
  ])("%s: 401", async (_, headers) => {
    const answer = await ask(proxy, headers as Record<string, string>);
    expect([answer.status, answer.text]).toEqual([401, envelope("Invalid API key")]);
    expect(answer.headers.get("x-error-code")).toBe("INVALID_API_KEY");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(answer.headers.get("x-request-id")).not.toBeNull();
  });

  test("two keys that differ: 401", async () => {
    const { secret } = await proxy.access.keys.create(
      { environment: "test", scopes: ["read"] },
      "test",
    );
    const headers = {
      "x-api-key": proxy.secret,
      "sec-websocket-protocol": `jsonrpc, key.${secret}`,
    };
    expect((await ask(proxy, headers)).status).toBe(401);
  });

  test("a key without the scope: 403", async () => {
    const other = await startProxy(registryOf([node.url]), { scopes: ["swaps"] });
    const answer = await ask(other, { "x-api-key": other.secret });
    expect([answer.status, answer.text]).toEqual([
      403,
      envelope("Scope 'read' is required for this endpoint. Granted scopes: swaps."),
    ]);
    await other.stop();
  });

  test("a full window: 429 with Retry-After", async () => {
    const other = await startProxy(registryOf([node.url]), { windowLimit: 1 });
    const client = await openSocket(other);
    const answer = await ask(other, { "x-api-key": other.secret });
    expect([answer.status, answer.text]).toEqual([429, envelope("Rate limit exceeded")]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(answer.headers.get("x-ratelimit-remaining")).toBe("0");
    await client.close();
    await other.stop();
  });

  test("plain http beyond loopback: 403", async () => {
    const config = loadConfig({ HOST: "0.0.0.0" });
    const app = new Elysia()
      .onError(errorHandler(silentLogger))
      .use(gate(proxy.access, config))
      .get("/api/public/rpc/:chainId", () => "open");
    const headers = { ...handshake, "x-api-key": proxy.secret };
    const answer = await app.handle(new Request("http://localhost/api/public/rpc/1", { headers }));
    expect([answer.status, await answer.text()]).toEqual([403, envelope("HTTPS is required")]);
  });

  test("more sockets than a key may have: 429, until one closes", async () => {
    const other = await startProxy(registryOf([node.url]), {}, { maxPerKey: 2 });
    const first = await openSocket(other);
    const second = await openSocket(other);
    const answer = await ask(other, { "x-api-key": other.secret });
    expect([answer.status, answer.text]).toEqual([429, envelope("Too many WebSocket connections")]);
    expect(answer.headers.get("retry-after")).toBe("1");
    await first.close();
    const third = await openSocket(other);
    expect(other.connections.counts().sockets).toBe(2);
    await Promise.all([second.close(), third.close()]);
    expect(other.connections.counts().sockets).toBe(0);
    await other.stop();
  });

  const invalid = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}';
  test.each(["999999", "nowhere", "0x1"])("unknown chain %s: 400", async (chain) => {
    const answer = await ask(proxy, { "x-api-key": proxy.secret }, chain);
    expect([answer.status, answer.text]).toEqual([400, invalid]);
    expect(answer.headers.get("x-error-code")).toBe("INVALID_RPC_REQUEST");
  });

  test("a handshake that is none: 400, and no place is taken", async () => {
    const headers = { "x-api-key": proxy.secret, "sec-websocket-key": "" };
    const answer = await ask(proxy, headers);
    expect([answer.status, answer.text]).toEqual([400, invalid]);
    expect(proxy.connections.counts().sockets).toBe(0);
  });

  test("GET without an upgrade: 405", async () => {
    const response = await fetch(proxy.url(), { headers: { "x-api-key": proxy.secret } });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  });
});

test("the upgrade is counted, not charged", async () => {
  const other = await startProxy(registryOf([node.url]), { windowLimit: 10 });
  const client = await openSocket(other);
  await client.close();
  const { headers } = await other.post('{"jsonrpc":"2.0","id":1,"method":"eth_call"}');
  expect(headers.get("x-ratelimit-remaining")).toBe("8");
  const sums = await other.access.meter.usage(other.keyId, 0, Date.now() + 3_600_000);
  expect(sums.reduce((sum, { cu }) => sum + cu, 0)).toBe(1);
  await other.stop();
});

describe("a socket ends when", () => {
  test("its key is revoked, though nothing is sent", async () => {
    const other = await startProxy(registryOf([node.url]));
    const client = await openSocket(other);
    await other.access.keys.revoke(other.keyId, "test");
    const atMs = performance.now();
    expect(await client.closed).toEqual({ code: 4401, reason: "API key is no longer valid" });
    expect(performance.now() - atMs).toBeLessThan(1_000);
    await other.stop();
  });

  test("its key is revoked and a message comes: nothing is answered", async () => {
    const other = await startProxy(registryOf([node.url]), {}, { checkMs: 60_000 });
    const client = await openSocket(other);
    await other.access.keys.revoke(other.keyId, "test");
    const reached = node.calls().length;
    client.raw.send('{"jsonrpc":"2.0","id":1,"method":"eth_call"}');
    expect((await client.closed).code).toBe(4401);
    expect(node.calls().length).toBe(reached);
    await other.stop();
  });

  test.each([
    ["scopes", { scopes: ["swaps"] }],
    ["addresses", { ipAllowList: ["192.0.2.0/24"] }],
  ])("its key's %s no longer cover it", async (_, changes) => {
    const other = await startProxy(registryOf([node.url]));
    const client = await openSocket(other);
    await other.access.keys.update(other.keyId, changes, "test");
    expect((await client.closed).code).toBe(4401);
    await other.stop();
  });

  test("its key expires", async () => {
    const expiresAt = Date.now() + 400;
    const other = await startProxy(registryOf([node.url]), { expiresAt });
    const client = await openSocket(other);
    expect((await client.closed).code).toBe(4401);
    expect(Date.now() - expiresAt).toBeLessThan(1_000);
    await other.stop();
  });

  test("its secret was rotated away", async () => {
    const other = await startProxy(registryOf([node.url]));
    const client = await openSocket(other);
    await other.access.keys.rotate(other.keyId, 0, "test");
    expect((await client.closed).code).toBe(4401);
    await other.stop();
  });

  test("a message is larger than a body may be", async () => {
    const client = await openSocket(proxy);
    client.raw.send("x".repeat(1_048_577));
    expect((await client.closed).code).toBe(1009);
  });

  test("the service stops", async () => {
    const other = await startProxy(registryOf([node.url]));
    const client = await openSocket(other);
    other.connections.close();
    expect(await client.closed).toEqual({ code: 1001, reason: "service is stopping" });
    await expect(openSocket(other)).rejects.toThrow();
    await other.stop();
  });
});
