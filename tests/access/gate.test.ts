import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/config/index.ts";
import { generateKey } from "../../src/access/key.ts";
import { ConfigError } from "../../src/config/index.ts";
import { createAccess, gate } from "../../src/access/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { createTinyApp, ledger, ManualClock, startServer } from "./support.ts";

const QUOTE = "/api/public/swap/quote";
const RPC = "/api/public/rpc/5042";
const post = (body?: string, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers,
  ...(body !== undefined && { body }),
});

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

async function expectError(response: Response, status: number, code: string, message: string) {
  expect(response.status).toBe(status);
  expect(response.headers.get("x-error-code")).toBe(code);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual({ success: false, error: message });
}

describe("401: without a valid key nothing else is learned", () => {
  const requests: [string, string, RequestInit][] = [
    ["a good request", "/api/public/prices", {}],
    ["a good body", QUOTE, post('{"inputToken":"USDC"}')],
    ["a broken body", QUOTE, post("{")],
    ["a body that is too large", QUOTE, post("x".repeat(5_000))],
    ["a wrong method", "/api/public/prices", post()],
    ["OPTIONS", "/api/public/prices", { method: "OPTIONS" }],
    ["an unknown path", "/api/public/nothing-here", {}],
    ["the prefix itself", "/api/public", {}],
    ["a route outside the operations table", "/api/public/rogue", {}],
    ["a batch of any size", RPC, post("[]", { "x-items": "1000000" })],
  ];
  const keys: [string, () => Promise<string | undefined>][] = [
    ["no key", async () => undefined],
    ["an empty key", async () => ""],
    ["a text that is no key", async () => "letmein"],
    ["a well-formed key nobody was given", async () => generateKey("live")],
    [
      "a revoked key",
      async () => {
        const { key, secret } = await server.newKey();
        await server.access.keys.revoke(key.id, "test");
        return secret;
      },
    ],
  ];
  for (const [keyName, makeKey] of keys) {
    for (const [requestName, path, init] of requests) {
      test(`${keyName}, ${requestName}`, async () => {
        const response = await server.request(path, await makeKey(), init);
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect(response.headers.get("x-ratelimit-limit")).toBeNull();
        expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
        await expectError(response, 401, "INVALID_API_KEY", "Invalid API key");
      });
    }
  }
});

const statusWith = async (headers: Record<string, string>) =>
  (await server.request("/api/public/prices", undefined, { headers })).status;

describe("where the key is sent", () => {
  test("as Bearer token or x-api-key, or the same in both", async () => {
    const { secret } = await server.newKey();
    expect(await statusWith({ authorization: `Bearer ${secret}` })).toBe(200);
    expect(await statusWith({ authorization: `bearer ${secret}` })).toBe(200);
    expect(await statusWith({ "x-api-key": secret })).toBe(200);
    expect(await statusWith({ authorization: `Bearer ${secret}`, "x-api-key": secret })).toBe(200);
  });

  test("two keys that differ are refused, although both are valid", async () => {
    const [{ secret }, other] = [await server.newKey(), await server.newKey()];
    const both = { authorization: `Bearer ${secret}`, "x-api-key": other.secret };
    expect(await statusWith(both)).toBe(401);
  });

  test("not as Basic credentials, in the query, or without a scheme", async () => {
    const { secret } = await server.newKey();
    expect(await statusWith({ authorization: `Basic ${btoa(`${secret}:`)}` })).toBe(401);
    expect(await statusWith({ authorization: secret })).toBe(401);
    expect((await server.request(`/api/public/prices?api_key=${secret}`)).status).toBe(401);
  });
});

describe("order of checks for a valid key", () => {
  test("a used-up window comes before path, method, scope and body", async () => {
    const { secret } = await server.newKey({ windowLimit: 1, scopes: ["quotes"] });
    await server.request("/api/public/usage", secret);
    for (const [path, init] of [
      ["/api/public/nothing-here", {}],
      ["/api/public/prices", post()],
      ["/api/public/prices", {}],
      [QUOTE, post("{")],
    ] as const) {
      const response = await server.request(path, secret, init);
      expect(Number(response.headers.get("retry-after"))).toBeWithin(1, 61);
      expect(response.headers.get("x-ratelimit-remaining")).toBe("0");
      await expectError(response, 429, "RATE_LIMIT_EXCEEDED", "Rate limit exceeded");
    }
  });

  test("unknown path and wrong method come before the scope", async () => {
    const { secret } = await server.newKey({ scopes: ["quotes"] });
    const unknown = await server.request("/api/public/nothing-here", secret);
    await expectError(unknown, 404, "ROUTE_NOT_FOUND", "Not found");
    const wrong = await server.request("/api/public/prices", secret, post());
    expect(wrong.headers.get("allow")).toBe("GET, HEAD");
    await expectError(wrong, 405, "METHOD_NOT_ALLOWED", "Method not allowed");
    const get = await server.request(QUOTE, secret);
    expect(get.headers.get("allow")).toBe("POST");
    expect(get.status).toBe(405);
  });

  test("the scope comes before the allowance and the body", async () => {
    const { secret } = await server.newKey({ scopes: ["read", "quotes"], cuAllowance: 0 });
    const message = "Scope 'swaps' is required for this endpoint. Granted scopes: read, quotes.";
    for (const body of ["{", "x".repeat(5_000), '{"inputToken":"USDC"}']) {
      const response = await server.request(QUOTE, secret, post(body));
      await expectError(response, 403, "SCOPE_REQUIRED", message);
    }
  });

  test("the allowance comes before the body", async () => {
    const { secret } = await server.newKey({ cuAllowance: 1 });
    const response = await server.request(QUOTE, secret, post("{"));
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await expectError(response, 429, "CU_ALLOWANCE_EXCEEDED", "Rate limit exceeded");
  });

  test("then the body is read: broken, incomplete, too large", async () => {
    const { secret } = await server.newKey();
    const send = (body: string) => server.request(QUOTE, secret, post(body));
    await expectError(await send("{"), 400, "INVALID_JSON", "Request body is not valid JSON");
    await expectError(await send("{}"), 400, "MISSING_FIELD", "Missing required fields");
    const large = await send("x".repeat(100_000));
    await expectError(large, 413, "BODY_TOO_LARGE", "Request body too large");
    expect((await send('{"inputToken":"USDC"}')).status).toBe(200);
  });
});

describe("answers", () => {
  const authenticated = [
    "x-request-id",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-cu-cost",
  ];
  const cases: [string, number, string, string, RequestInit][] = [
    ["a Response", 200, "1", "/api/public/prices", {}],
    ["a HEAD request", 200, "1", "/api/public/prices", { method: "HEAD" }],
    ["a plain object", 200, "1", "/api/public/swap/dexes", {}],
    ["a body that was read", 200, "2", QUOTE, post('{"inputToken":"USDC"}')],
    ["a free operation", 200, "0", "/api/public/usage", {}],
    ["a raw Response with an error status", 400, "0", RPC, post("{}", { "x-outcome": "400" })],
    ["a thrown ApiError", 400, "0", QUOTE, post("{}")],
    ["a body too large", 413, "0", QUOTE, post("x".repeat(5_000))],
    ["an unreachable upstream", 502, "0", RPC, post("{}", { "x-outcome": "unreachable" })],
    ["an unexpected error", 500, "0", RPC, post("{}", { "x-outcome": "crash" })],
    ["an unknown path", 404, "0", "/api/public/nothing-here", {}],
    ["an operation without a route", 404, "0", "/api/public/wallet/balance", post("{}")],
    ["a wrong method", 405, "0", "/api/public/prices", post()],
    ["a missing scope", 403, "0", "/api/public/bridge", post("{}")],
  ];
  for (const [name, status, cu, path, init] of cases) {
    test(`${name} carries every header, and costs ${cu}`, async () => {
      const { key, secret } = await server.newKey();
      const response = await server.request(path, secret, init);
      expect(response.status).toBe(status);
      for (const header of authenticated) expect(response.headers.has(header)).toBe(true);
      expect(response.headers.get("x-ratelimit-limit")).toBe("600");
      expect(response.headers.get("x-ratelimit-remaining")).toBe("599");
      const resetInSeconds = Number(response.headers.get("x-ratelimit-reset")) - Date.now() / 1000;
      expect(resetInSeconds).toBeWithin(50, 62);
      expect(response.headers.get("x-cu-cost")).toBe(cu);
      expect((await ledger(server.database, key.id)).cu).toBe(Number(cu));
    });
  }

  test("request ids differ", async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => (await server.request("/health")).headers),
    );
    expect(new Set(ids.map((headers) => headers.get("x-request-id"))).size).toBe(50);
  });

  test("an unexpected error is logged with its request id and tells the caller nothing", async () => {
    const { secret } = await server.newKey();
    const response = await server.request(RPC, secret, post("{}", { "x-outcome": "crash" }));
    const requestId = response.headers.get("x-request-id");
    await expectError(response, 500, "INTERNAL", "Internal server error");
    const fields = server.logged.find(
      (line) => "requestId" in line && line.requestId === requestId,
    );
    expect(fields).toMatchObject({ method: "POST", path: RPC, error: expect.any(TypeError) });
    expect(JSON.stringify(server.logged)).not.toContain(secret);
  });

  test("every answer is observed once, with its operation when it was let in", async () => {
    await using observed = await startServer();
    const { secret } = await observed.newKey();
    await observed.request("/health");
    await observed.request("/api/public/prices");
    await observed.request("/api/public/prices", secret);
    await observed.request(QUOTE, secret, post("{"));
    await observed.request(RPC, secret, post("{}", { "x-outcome": "400" }));
    await observed.request("/api/public/nothing-here", secret);
    expect(observed.observed).toEqual([
      "other 200 true",
      "other 401 true",
      "prices 200 true",
      "quote 400 true",
      "rpc 400 true",
      "other 404 true",
    ]);
  });

  test("a missing page outside the API answers the envelope, without a key", async () => {
    await expectError(await server.request("/nothing"), 404, "ROUTE_NOT_FOUND", "Not found");
    expect((await server.request("/console")).status).toBe(200);
  });
});

test("a path the router could read in another way opens nothing", async () => {
  const { secret } = await server.newKey();
  for (const path of ["//api/public/rogue", "/x/../api/public/rogue", "/api/%70ublic/rogue"]) {
    expect((await server.request(path)).status).toBeOneOf([401, 404]);
    expect((await server.request(path, secret)).status).toBeOneOf([401, 404]);
  }
});

async function statusOn(
  environment: Record<string, string>,
  path: string,
  headers: Record<string, string> = {},
) {
  await using plain = await startServer({ environment });
  const { secret } = await plain.newKey();
  const response = await plain.request(path, secret, { headers });
  if (response.status === 403) {
    await expectError(response, 403, "HTTPS_REQUIRED", "HTTPS is required");
  }
  return response.status;
}

describe("HTTPS", () => {
  const open = { HOST: "0.0.0.0" };
  const proxied = { ...open, TRUSTED_PROXIES: "127.0.0.0/8,::1" };
  const https = { "x-forwarded-proto": "https" };

  test("plain HTTP is accepted on a loopback listener only", async () => {
    expect(await statusOn({}, "/api/public/prices")).toBe(200);
    expect(await statusOn({ HOST: "::1" }, "/api/public/prices")).toBe(200);
    expect(await statusOn(open, "/api/public/prices")).toBe(403);
    expect(await statusOn(open, "/console")).toBe(403);
    expect(await statusOn(open, "/nothing")).toBe(403);
  });

  test("a listener with TLS needs nobody's word", async () => {
    const tls = { ...open, TLS_CERT: "cert.pem", TLS_KEY: "key.pem" };
    expect(await statusOn(tls, "/api/public/prices")).toBe(200);
  });

  test("X-Forwarded-Proto counts from a trusted proxy only", async () => {
    expect(await statusOn(proxied, "/api/public/prices", https)).toBe(200);
    expect(await statusOn(proxied, "/api/public/prices")).toBe(403);
    const plain = { "x-forwarded-proto": "https, http" };
    expect(await statusOn(proxied, "/api/public/prices", plain)).toBe(403);
    expect(await statusOn(open, "/api/public/prices", https)).toBe(403);
    const elsewhere = { ...open, TRUSTED_PROXIES: "10.0.0.0/8" };
    expect(await statusOn(elsewhere, "/api/public/prices", https)).toBe(403);
  });

  test("probes and scrapers need no TLS", async () => {
    expect(await statusOn(open, "/health")).toBe(200);
  });

  test("a wrong proxy list stops the start", async () => {
    const config = loadConfig({ TRUSTED_PROXIES: "10.0.0.0/8,example.com" });
    const access = await createAccess(openDatabase(":memory:"), config.access);
    expect(() => gate(access, config)).toThrow(ConfigError);
  });
});

describe("IP allow-list", () => {
  const environment = { TRUSTED_PROXIES: "127.0.0.1,10.0.0.0/8" };
  const status = async (ipAllowList: string[], forwardedFor?: string) => {
    await using listening = await startServer({ environment });
    const { secret } = await listening.newKey({ ipAllowList });
    const headers: Record<string, string> = {};
    if (forwardedFor !== undefined) headers["x-forwarded-for"] = forwardedFor;
    return (await listening.request("/api/public/prices", secret, { headers })).status;
  };

  test("the connection's own address counts when nothing is forwarded", async () => {
    expect(await status(["127.0.0.1"])).toBe(200);
    expect(await status(["192.0.2.0/24"])).toBe(401);
  });

  test("behind trusted proxies the nearest other hop counts, and what stands before it does not", async () => {
    expect(await status(["192.0.2.0/24"], "192.0.2.7")).toBe(200);
    expect(await status(["192.0.2.0/24"], "198.51.100.1, 192.0.2.7, 10.1.2.3")).toBe(200);
    expect(await status(["192.0.2.0/24"], "192.0.2.7, 198.51.100.1")).toBe(401);
    expect(await status(["2001:db8::/32"], "2001:db8::5")).toBe(200);
    expect(await status(["192.0.2.0/24"], "::ffff:192.0.2.7")).toBe(200);
    expect(await status(["::ffff:192.0.2.0/120"], "192.0.2.7")).toBe(200);
    expect(await status(["192.0.2.0/24"], "not an address")).toBe(401);
  });

  test("nobody else is believed", async () => {
    await using direct = await startServer();
    const { secret } = await direct.newKey({ ipAllowList: ["192.0.2.0/24"] });
    const headers = { "x-forwarded-for": "192.0.2.7" };
    expect((await direct.request("/api/public/prices", secret, { headers })).status).toBe(401);
  });
});

describe("keys in time", () => {
  test("an expired key is refused from that moment on", async () => {
    const clock = new ManualClock();
    await using timed = await startServer({ clock });
    const { secret } = await timed.newKey({ expiresAt: clock.now() + 1_000 });
    expect((await timed.request("/api/public/prices", secret)).status).toBe(200);
    clock.advance(999);
    expect((await timed.request("/api/public/prices", secret)).status).toBe(200);
    clock.advance(1);
    expect((await timed.request("/api/public/prices", secret)).status).toBe(401);
  });

  test("a used-up window opens again when it ends, and Retry-After says when", async () => {
    const clock = new ManualClock();
    await using timed = await startServer({ clock });
    const { secret } = await timed.newKey({ windowLimit: 1 });
    expect((await timed.request("/api/public/prices", secret)).status).toBe(200);
    clock.advance(12_500);
    const refused = await timed.request("/api/public/prices", secret);
    expect(refused.headers.get("retry-after")).toBe("48");
    clock.advance(47_499);
    const last = await timed.request("/api/public/prices", secret);
    expect([last.status, last.headers.get("retry-after")]).toEqual([429, "1"]);
    clock.advance(1);
    expect((await timed.request("/api/public/prices", secret)).status).toBe(200);
  });
});

test("without a socket the gate works as well", async () => {
  const config = loadConfig({});
  const access = await createAccess(openDatabase(":memory:"), config.access);
  const { app } = createTinyApp(access, config);
  const { secret } = await access.keys.create({ environment: "test", scopes: ["read"] }, "test");
  const request = (headers: Record<string, string>) =>
    app.handle(new Request("http://localhost/api/public/prices", { headers }));
  expect((await request({})).status).toBe(401);
  expect((await request({ "x-api-key": secret })).status).toBe(200);
});
