import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import SwaggerParser from "@apidevtools/swagger-parser";
import { FormatRegistry, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Browser, Locator, Page } from "playwright-core";
import { type OperationId, operations } from "../../src/access/index.ts";
import { type ErrorCode, errorCatalogue } from "../../src/lib/errors.ts";
import { type Stack, startStack } from "../app/stack.ts";
import { launchBrowser } from "../console/browser.ts";
import { describeInBrowser } from "../support/installed.ts";

interface Body {
  readonly content: {
    readonly "application/json": {
      readonly schema: TSchema;
      readonly example?: unknown;
      readonly examples?: Record<string, { readonly value: unknown }>;
    };
  };
}

interface Answer extends Body {
  readonly description: string;
  readonly headers: Record<string, { readonly schema: { readonly enum?: readonly string[] } }>;
  readonly "x-error-codes"?: readonly ErrorCode[];
}

interface OperationDocument {
  readonly operationId: string;
  readonly responses: Record<string, Answer>;
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

  test("has an example for every code of every error status, as it would be answered", () => {
    for (const { responses } of Object.values(document.paths).flatMap((it) => Object.values(it))) {
      for (const [status, { headers, description, ...answer }] of Object.entries(responses)) {
        const codes = answer["x-error-codes"] ?? [];
        expect(status === "200").toBe(codes.length === 0);
        if (codes.length === 0) continue;
        expect(headers["X-Error-Code"]?.schema.enum).toEqual(codes);
        const { example, examples = {} } = answer.content["application/json"];
        const envelopes = codes.map((code) => {
          expect([code, String(errorCatalogue[code].status)]).toEqual([code, status]);
          expect(description).toContain(`(/docs/errors#${code})`);
          return [code, { value: { success: false, error: errorCatalogue[code].message } }];
        });
        if (example === undefined) expect(examples).toEqual(Object.fromEntries(envelopes));
        else expect(example).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } });
      }
    }
  });

  test("has examples that fit the schemas they stand beside", () => {
    FormatRegistry.Set("date-time", (text) => !Number.isNaN(Date.parse(text)));
    let checked = 0;
    for (const { hooks } of stack.service.app.routes) {
      const detail: { requestBody?: Body; responses?: Record<number, Body> } = hooks.detail ?? {};
      for (const body of [detail.requestBody, detail.responses?.[200]]) {
        if (!body) continue;
        const { schema, example } = body.content["application/json"];
        expect([...Value.Errors(schema, example)]).toEqual([]);
        checked++;
      }
    }
    FormatRegistry.Delete("date-time");
    expect(checked).toBe(Object.keys(operations).length + 5);
  });
});

const EXECUTE_TIMEOUT_MS = 3_000;
const MAX_CLICKS = 10;

/**
 * Executes an opened operation and waits for the live answer. The UI takes the example over a
 * moment after it opens; a click before that only marks the empty field.
 * @returns the answer's status
 */
async function execute(block: Locator): Promise<number> {
  const status = block.locator(".live-responses-table tr.response .response-col_status").first();
  for (let click = 1; ; click++) {
    await block.locator("button.execute").click();
    try {
      await status.waitFor({ timeout: EXECUTE_TIMEOUT_MS });
      return Number.parseInt(await status.innerText(), 10);
    } catch (error) {
      if (click === MAX_CLICKS) throw error;
    }
  }
}

/** What an endpoint's documented example answers, where that is not 200. */
const outcomes: Partial<Record<OperationId, number>> = { "bridge-status": 404 };

describeInBrowser("Swagger UI in a browser", () => {
  let browser: Browser;
  let page: Page;
  const foreign: string[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
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
      const shown = await execute(block);
      expect([id, shown]).toEqual([id, outcomes[id] ?? 200]);
      await block.locator(".opblock-summary-control").click();
    }
    expect(foreign).toEqual([]);
  }, 60_000);
});
