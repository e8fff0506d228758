import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { operations } from "../../src/access/index.ts";
import type { ErrorDoc } from "../../src/docs/errors.ts";
import { errorCatalogue } from "../../src/lib/errors.ts";
import { type LocalService, startLocalService } from "../app/service.ts";

let service: LocalService;
let listed: ErrorDoc[];
beforeAll(async () => {
  service = await startLocalService([]);
  listed = (await (await fetch(`${service.origin}/docs/errors.json`)).json()).data;
});
afterAll(() => service.stop());

test("every code is listed with status, meaning, whether to retry, and what to do", () => {
  expect(listed.map(({ code }) => code)).toEqual(
    Object.keys(errorCatalogue) as (keyof typeof errorCatalogue)[],
  );
  for (const { code, operations: where, ...entry } of listed) {
    expect([code, entry]).toEqual([code, errorCatalogue[code]]);
    for (const text of [entry.meaning, entry.help]) {
      expect([code, /^[A-Z`].{10,}[.]$/.test(text)]).toEqual([code, true]);
    }
    for (const id of where) expect(Object.keys(operations)).toContain(id);
  }
});

test("retrying is advised for what passes by itself only", () => {
  for (const { code, status, retry } of listed) {
    if (status === 429 || status >= 500) expect([code, retry]).toEqual([code, true]);
    if ([401, 403, 405, 409, 413].includes(status)) expect([code, retry]).toEqual([code, false]);
  }
});

test("every code is answered somewhere in the code", () => {
  const source = join(import.meta.dir, "../../src");
  const text = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && name !== join("lib", "errors.ts"))
    .map((name) => readFileSync(join(source, name), "utf8"))
    .join("");
  expect(listed.filter(({ code }) => !text.includes(`"${code}"`))).toEqual([]);
});

test("the page has an anchor for every code and loads from this service only", async () => {
  const answer = await fetch(`${service.origin}/docs/errors`);
  const page = await answer.text();
  expect(answer.headers.get("content-security-policy")).toStartWith("default-src 'none'");
  for (const { code } of listed) expect(page).toContain(`<article id="${code}">`);
  const loaded = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? "");
  expect(loaded.filter((url) => !/^[/#]/.test(url))).toEqual([]);
  expect(page).not.toMatch(/<script|style=|undefined|\[object/);
  const style = await fetch(`${service.origin}/docs/errors.css`);
  expect([style.status, style.headers.get("content-type")]).toEqual([
    200,
    "text/css; charset=utf-8",
  ]);
});
