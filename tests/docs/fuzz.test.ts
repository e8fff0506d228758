import { afterAll, beforeAll, expect, test } from "bun:test";
import { FormatRegistry, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { type OperationId, operations } from "../../src/access/index.ts";
import type { ErrorCode } from "../../src/lib/errors.ts";
import { type Stack, startStack } from "../app/stack.ts";

/**
 * Requests around the documented examples, from nearly right to bytes: every answer has a
 * documented status, the schema of that status, and an error code documented for it.
 */
const RUNS = 60;
const SEED = 20_261_121;

interface Documented {
  readonly operationId: OperationId;
  readonly requestBody?: Body;
  readonly responses: Readonly<
    Record<number, Body & { readonly "x-error-codes"?: readonly ErrorCode[] }>
  >;
}
interface Body {
  readonly content: {
    readonly "application/json": { readonly schema: TSchema; readonly example?: unknown };
  };
}
interface Shot {
  readonly segment: string;
  readonly query: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

let stack: Stack;
let secret: string;
let documented: readonly Documented[];
beforeAll(async () => {
  FormatRegistry.Set("date-time", (text) => !Number.isNaN(Date.parse(text)));
  stack = await startStack([5042, 5042002, 84532]);
  secret = (await stack.service.key({ windowLimit: 1_000_000 })).secret;
  documented = stack.service.app.routes.flatMap(({ hooks }) =>
    hooks.detail?.operationId ? [hooks.detail as Documented] : [],
  );
}, 60_000);
afterAll(async () => {
  FormatRegistry.Delete("date-time");
  await stack.stop();
});

/** The example with some of its members, at any depth, replaced, removed or joined by others. */
function around(example: unknown): fc.Arbitrary<unknown> {
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(0, -1, 1e30, "", "0", "-1", "0x", "USDC", null, [], {}),
  );
  if (Array.isArray(example)) {
    return fc.oneof(odd, fc.array(around(example[0] ?? {}), { maxLength: 3 }));
  }
  if (typeof example !== "object" || example === null) {
    return fc.oneof({ weight: 6, arbitrary: fc.constant(example) }, { weight: 1, arbitrary: odd });
  }
  const members = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, around(value)]),
  );
  return fc.oneof(
    { weight: 12, arbitrary: fc.record(members) },
    { weight: 4, arbitrary: fc.record(members, { requiredKeys: [] }) },
    { weight: 1, arbitrary: odd },
  );
}

function shots({ requestBody }: Documented): fc.Arbitrary<Shot> {
  const example = requestBody?.content["application/json"].example ?? {};
  const body = fc.oneof(
    { weight: 12, arbitrary: around(example).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
    { weight: 1, arbitrary: fc.string() },
  );
  const segment = fc.oneof(
    fc.constantFrom("5042", "84532", "1", "0", "Arc", `0x${"ab".repeat(32)}`),
    fc.string({ minLength: 1, maxLength: 80 }),
  );
  const query = fc.oneof(
    fc.constant(""),
    fc.webQueryParameters().map((text) => `?${text}`),
  );
  const dates = fc.record({ from: fc.string(), to: fc.constantFrom("2026-01-31", "x", "") });
  const dated = dates.map((span) => `?${new URLSearchParams(span)}`);
  const headers = fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    { "content-type": "text/plain" },
    { "idempotency-key": "a" },
    { "x-forwarded-for": "::1" },
  );
  return fc.record({ segment, query: fc.oneof(query, dated), body, headers });
}

async function fire({ operationId }: Documented, shot: Shot): Promise<Response> {
  const { method, path } = operations[operationId];
  const filled = path.replace(/\{\w+\}/, encodeURIComponent(shot.segment).replaceAll(".", "%2E"));
  return fetch(stack.service.origin + filled + shot.query, {
    method,
    headers: { ...shot.headers, "x-api-key": secret },
    ...(method === "POST" && { body: shot.body }),
  });
}

/** What is wrong with an answer; undefined: nothing. */
async function fault({ responses }: Documented, answer: Response): Promise<string | undefined> {
  const code = answer.headers.get("x-error-code");
  const text = await answer.text();
  const said = `${answer.status} ${code}: ${text}`;
  const entry = responses[answer.status];
  if (!entry) return `undocumented status: ${said}`;
  const { schema, example } = entry.content["application/json"];
  const body: unknown = JSON.parse(text);
  const codes: readonly (string | null)[] = entry["x-error-codes"] ?? [null];
  if (!codes.includes(code) || code === "INTERNAL") return `undocumented code: ${said}`;
  const isEnvelope = answer.status !== 200 && example === undefined;
  const isRight = isEnvelope
    ? Bun.deepEquals(body, { success: false, error: (body as { error: string }).error })
    : Value.Check(schema, body);
  return isRight ? undefined : `not its schema: ${said}`;
}

test("whatever is sent, the answer is one the documents have", async () => {
  expect(documented).toHaveLength(Object.keys(operations).length);
  for (const operation of documented) {
    const property = fc.asyncProperty(shots(operation), async (shot) => {
      expect(await fault(operation, await fire(operation, shot))).toBeUndefined();
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });
  }
}, 120_000);
