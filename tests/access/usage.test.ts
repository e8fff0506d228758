import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { FormatRegistry } from "@sinclair/typebox";
import { UsageResult } from "../../src/access/model.ts";
import { usageSpan } from "../../src/access/usage.ts";
import { ManualClock, startServer } from "./support.ts";

FormatRegistry.Set("date-time", (text) => new Date(text).toISOString() === text);

const HOUR = 3_600_000;

describe("GET /api/public/usage", () => {
  test("any valid key may ask, it costs nothing and shows what was charged this month", async () => {
    const clock = new ManualClock();
    await using server = await startServer({ clock });
    const { secret } = await server.newKey({ cuAllowance: 100 });
    const send = (path: string, body?: string) =>
      server.request(path, secret, body === undefined ? {} : { method: "POST", body });
    await send("/api/public/prices");
    await send("/api/public/swap/quote", '{"inputToken":"USDC"}');
    await send("/api/public/swap/quote", "{");
    clock.advance(HOUR);
    await send("/api/public/swap/quote", '{"inputToken":"USDC"}');
    await send("/api/public/rpc/84532", "{}");
    const response = await send("/api/public/usage");
    const body = await response.json();
    expect(Value.Check(UsageResult, body)).toBe(true);
    expect(body).toEqual({
      success: true,
      data: {
        requests: 4,
        totalCu: 6,
        window: {
          limit: 600,
          remaining: 597,
          resetAt: new Date(clock.now() + 60_000).toISOString(),
        },
        allowance: { cu: 100, remaining: 94 },
        operations: [
          { operation: "quote", chainId: 5042, requests: 2, cu: 4 },
          { operation: "prices", chainId: null, requests: 1, cu: 1 },
          { operation: "rpc", chainId: 84532, requests: 1, cu: 1 },
        ],
      },
    });
  });

  test("a key without allowance, and one that used nothing", async () => {
    await using server = await startServer();
    const { secret } = await server.newKey({ scopes: ["quotes"] });
    const { data } = await (await server.request("/api/public/usage", secret)).json();
    expect(data).toMatchObject({ requests: 0, totalCu: 0, allowance: null, operations: [] });
  });

  test("keys do not see each other's usage", async () => {
    await using server = await startServer();
    const [busy, idle] = [await server.newKey(), await server.newKey()];
    await server.request("/api/public/prices", busy.secret);
    const { data } = await (await server.request("/api/public/usage", idle.secret)).json();
    expect(data.requests).toBe(0);
  });

  test("from and to narrow it by the hour; a date as `to` includes its day", async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 10, 12));
    await using server = await startServer({ clock });
    const { secret } = await server.newKey();
    for (let day = 0; day < 4; day++) {
      await server.request("/api/public/prices", secret);
      clock.advance(24 * HOUR);
    }
    const requests = async (query: string) => {
      const response = await server.request(`/api/public/usage${query}`, secret);
      return (await response.json()).data.requests;
    };
    expect(await requests("")).toBe(4);
    expect(await requests("?from=2026-01-11")).toBe(3);
    expect(await requests("?to=2026-01-11")).toBe(2);
    expect(await requests("?from=2026-01-11&to=2026-01-11")).toBe(1);
    expect(await requests("?from=2026-01-10T13:00Z&to=2026-01-13T12:00:00Z")).toBe(2);
    expect(await requests("?from=2025-12-01&to=2025-12-31")).toBe(0);
    clock.advance(31 * 24 * HOUR);
    expect(await requests("")).toBe(0);
    expect(await requests("?from=2026-01-01")).toBe(4);
  });

  test("a date that is none is refused by name", async () => {
    await using server = await startServer();
    const { secret } = await server.newKey();
    for (const query of ["from=yesterday", "to=2026-13-01", "from=", "from=20260101", "to=1"]) {
      const response = await server.request(`/api/public/usage?${query}`, secret);
      expect(response.status).toBe(400);
      expect(response.headers.get("x-error-code")).toBe("INVALID_FIELD");
      expect((await response.json()).error).toContain(query.split("=")[0]!);
    }
    const reversed = await server.request(
      "/api/public/usage?from=2026-02-01&to=2026-01-01",
      secret,
    );
    expect(reversed.status).toBe(400);
  });
});

test("without from and to the span is the calendar month in UTC", () => {
  const span = usageSpan(new URLSearchParams(), Date.UTC(2026, 11, 31, 23, 59));
  expect(span).toEqual({ from: Date.UTC(2026, 11), to: Date.UTC(2027, 0) });
});
