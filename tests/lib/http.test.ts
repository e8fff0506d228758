import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { ApiError } from "../../src/lib/errors.ts";
import { errorAnswer, fieldPairs, readJson, rejectWith } from "../../src/lib/http.ts";

const Body = Type.Object({
  name: Type.String({ description: "a name" }),
  count: Type.Optional(Type.Integer({ description: "a whole number" })),
  kind: Type.Optional(Type.Literal("x", rejectWith("UNKNOWN_VENUE"))),
});

const read = (body: BodyInit, maxBytes = 1_000) =>
  readJson(new Request("http://localhost/", { method: "POST", body }), Body, {
    maxBytes,
    missing: (field) => `Missing required field: ${field}`,
  });

async function failure(body: BodyInit, maxBytes?: number) {
  const error = await read(body, maxBytes).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error("expected an ApiError");
  return [error.status, error.code, error.message];
}

describe("readJson", () => {
  test("gives the body, unknown fields included", async () => {
    expect(await read('{"name":"a","more":1}')).toMatchObject({ name: "a" });
  });

  test("names what is missing or wrong", async () => {
    expect(await failure("{}")).toEqual([400, "MISSING_FIELD", "Missing required field: name"]);
    expect(await failure('{"name":null}')).toEqual([
      400,
      "MISSING_FIELD",
      "Missing required field: name",
    ]);
    expect(await failure('{"name":1}')).toEqual([
      400,
      "INVALID_FIELD",
      "Invalid field: name (a name)",
    ]);
    expect(await failure('{"name":"a","count":1.5}')).toEqual([
      400,
      "INVALID_FIELD",
      "Invalid field: count (a whole number)",
    ]);
  });

  test("answers with a property's own code where it has one", async () => {
    expect((await failure('{"name":"a","kind":"y"}'))[1]).toBe("UNKNOWN_VENUE");
  });

  test.each(["", "{", "[1]", '"x"', "null", "\u{feff}", '{"name":"a"}x'])(
    "refuses %p as not a JSON object",
    async (body) => expect((await failure(body))[1]).toBe("INVALID_JSON"),
  );

  test("refuses bytes that are not UTF-8", async () => {
    const bytes = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expect((await failure(bytes))[1]).toBe("INVALID_JSON");
  });

  test("refuses a large body, declared or streamed", async () => {
    expect((await failure("x".repeat(2_000)))[0]).toBe(413);
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(600)),
    });
    expect((await failure(stream))[0]).toBe(413);
  });
});

test("the error envelope has success and error only, and the code as a header", async () => {
  const answer = errorAnswer(
    new ApiError("RATE_LIMIT_EXCEEDED", undefined, { "retry-after": "3" }),
  );
  expect(answer.status).toBe(429);
  expect(answer.errorCode).toBe("RATE_LIMIT_EXCEEDED");
  expect(fieldPairs(answer)).toEqual([
    ["content-type", "application/json"],
    ["retry-after", "3"],
    ["x-error-code", "RATE_LIMIT_EXCEEDED"],
  ]);
  expect(answer.body).toBe('{"success":false,"error":"Rate limit exceeded"}');
});
