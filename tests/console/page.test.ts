import { afterAll, beforeAll, expect, test } from "bun:test";
import { startConsoleService } from "./service.ts";

let service: Awaited<ReturnType<typeof startConsoleService>>;
beforeAll(async () => {
  service = await startConsoleService();
});
afterAll(() => service[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.origin}${path}`, { headers });

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

test("the page allows itself nothing but its own files, and has nothing inline", async () => {
  const page = await get("/console");
  const text = await page.text();
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toBe(POLICY);
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  expect(page.headers.get("cross-origin-opener-policy")).toBe("same-origin");
  expect(text).not.toMatch(/<script(?![^>]* src=)|<style|style=|onload=/);
  expect(text).not.toMatch(/https?:\/\//);
});

test("its files are there, may be kept for good, and the page itself is asked for each time", async () => {
  const page = await get("/console");
  const paths = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, path]) => path,
  );
  expect(paths).toHaveLength(3);
  for (const path of paths) {
    const file = await get(path ?? "");
    expect([path, file.status]).toEqual([path, 200]);
    expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(file.headers.get("content-security-policy")).toBe(POLICY);
    expect((await file.text()).length).toBeGreaterThan(100);
  }
  expect(page.headers.get("cache-control")).toBe("no-cache");
  const etag = page.headers.get("etag") ?? "";
  const again = await get("/console", { "if-none-match": etag });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  expect((await get("/console/assets/app.js")).status).toBe(404);
});

test("answers of the console's routes are kept nowhere", async () => {
  const answer = await get("/console/api/session");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(await answer.json()).toEqual({ success: true, data: { signUp: "open" } });
});
