import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import SwaggerParser from "@apidevtools/swagger-parser";
import { type Browser, chromium, type Page } from "playwright-core";
import { type OperationId, operations } from "../../src/access/index.ts";
import { type Stack, startStack } from "../app/stack.ts";

const CHROMIUM = "/usr/bin/chromium";
/** Without a browser on the machine the document is still tested; CI must have one. */
const hasBrowser = existsSync(CHROMIUM) || process.env["CI"] === "true";

interface OperationDocument {
  readonly operationId: string;
  readonly responses: Record<string, unknown>;
  readonly security: readonly object[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly example: unknown } };
  };
}

let stack: Stack;
let document: { paths: Record<string, Record<string, OperationDocument>> };
beforeAll(async () => {
  stack = await startStack([5042, 5042002, 84532]);
  document = await (await fetch(`${stack.service.origin}/swagger/json`)).json();
});
afterAll(() => stack.stop());

describe("the OpenAPI document", () => {
  test("is valid", async () => {
    await SwaggerParser.validate(structuredClone(document) as never);
  });

  test("has every endpoint with both ways to authenticate and the gate's errors, and no other", () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        operation.operationId,
        method.toUpperCase(),
        path,
      ]),
    );
    const expected = (Object.keys(operations) as OperationId[]).map((id) => [
      id,
      operations[id].method,
      operations[id].path,
    ]);
    expect(documented.toSorted()).toEqual(expected.toSorted());
    for (const methods of Object.values(document.paths)) {
      for (const { responses, security } of Object.values(methods)) {
        expect(security).toEqual([{ bearerAuth: [] }, { apiKeyHeader: [] }]);
        for (const status of ["200", "401", "403", "405", "429", "500"]) {
          expect(Object.keys(responses)).toContain(status);
        }
      }
    }
  });
});

/** What an endpoint's documented example answers, where that is not 200. */
const outcomes: Partial<Record<OperationId, number>> = { "bridge-status": 404 };

describe.if(hasBrowser)("Swagger UI in a browser", () => {
  let browser: Browser;
  let page: Page;
  const foreign: string[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    page = await browser.newPage();
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(stack.service.origin) && !url.startsWith("data:")) foreign.push(url);
    });
    page.on("console", (message) => {
      if (message.type() === "error" && /Content Security Policy/.test(message.text())) {
        foreign.push(message.text());
      }
    });
    await page.goto(`${stack.service.origin}/swagger`);
    await page.waitForSelector(".opblock");
  });
  afterAll(() => browser.close());

  test("shows every endpoint and loads nothing from elsewhere", async () => {
    expect(await page.locator(".opblock").count()).toBe(Object.keys(operations).length);
    expect(foreign).toEqual([]);
  });

  test("Authorize, then Execute of every endpoint's example, answers as documented", async () => {
    const key = (await stack.service.key()).secret;
    await page.locator(".auth-wrapper .authorize").first().click();
    await page.locator(".auth-container input").first().fill(key);
    await page.locator(".auth-container .authorize").first().click();
    await page.locator(".btn-done").first().click();
    for (const id of Object.keys(operations) as OperationId[]) {
      const block = page.locator(`.opblock[id$="-${id}"]`);
      await block.locator(".opblock-summary-control").click();
      await block.locator("button.execute").click();
      const status = block
        .locator(".live-responses-table tr.response .response-col_status")
        .first();
      await status.waitFor();
      const shown = Number.parseInt(await status.innerText(), 10);
      expect([id, shown]).toEqual([id, outcomes[id] ?? 200]);
      await block.locator(".opblock-summary-control").click();
    }
    expect(foreign).toEqual([]);
  }, 30_000);
});
