import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler, type TypeCheck, ValueErrorType } from "@sinclair/typebox/compiler";
import { ApiError, type ErrorCode, isErrorCode } from "./errors.ts";
import { Spliced } from "./spliced.ts";

const JSON_HEADERS = { "content-type": "application/json" };

/** A JSON answer with the given status. */
export function jsonResponse(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: JSON_HEADERS });
}

/** The success envelope of the contract: `{ success: true, data }`. */
export function dataResponse(data: unknown): Response {
  return jsonResponse({ success: true, data });
}

/** Takes the text of header fields in pieces, each line with its end; in ASCII. */
export interface FieldSink {
  text(text: string): void;
  /** @param value - a whole number, not negative */
  number(value: number): void;
}

/** Header fields in two parts. */
export interface FieldSource {
  /** What answers in a row mostly have in common; need not end with a line. */
  steadyFields(): string;
  /** Writes what is behind it, up to the end of a line. */
  writeFields(to: FieldSink): void;
}

/** An answer as it is before anything of the runtime is made of it. */
export interface PlainAnswer {
  readonly status: number;
  /**
   * Header fields as text, each line with its end; in ASCII. One text is put together at a fraction
   * of what an object costs that is taken apart again.
   */
  fields: string;
  /** The fields beside those; what changes with each answer is best written in place. */
  more?: FieldSource;
  readonly errorCode: ErrorCode | undefined;
  readonly body: string | Uint8Array<ArrayBuffer> | Spliced | null;
}

/** The field every answer in JSON begins with. */
export const JSON_FIELD = "content-type: application/json\r\n";

/** The error envelope of the contract, with `X-Error-Code`. */
export function errorAnswer({ status, code, message, headers = {} }: ApiError): PlainAnswer {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return {
    status,
    fields: `${JSON_FIELD}${own.join("")}x-error-code: ${code}\r\n`,
    errorCode: code,
    body: JSON.stringify({ success: false, error: message }),
  };
}

/** Gathers fields as one text. */
class FieldText implements FieldSink {
  value = "";

  text(text: string): void {
    this.value += text;
  }

  number(value: number): void {
    this.value += String(value);
  }
}

/** Names and values of an answer's header fields. */
export function fieldPairs({
  fields = "",
  more,
}: Partial<Pick<PlainAnswer, "fields" | "more">>): [name: string, value: string][] {
  const rest = new FieldText();
  rest.text(more?.steadyFields() ?? "");
  more?.writeFields(rest);
  const lines = `${fields}${rest.value}`.split("\r\n").slice(0, -1);
  return lines.map((line) => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
}

/** A plain answer for the runtime's server. @param body - in place of its own */
export function toResponse(answer: PlainAnswer, body = bodyOf(answer)): Response {
  return new Response(body, { status: answer.status, headers: fieldPairs(answer) });
}

function bodyOf({ body }: PlainAnswer): BodyInit | null {
  return body instanceof Spliced ? body.toBytes() : body;
}

/**
 * Reads a whole request body, refusing it as soon as it is known to be too large.
 * @param maxBytes - largest body accepted
 * @throws ApiError `BODY_TOO_LARGE`
 */
export async function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    if (Number(declared) > maxBytes) throw new ApiError("BODY_TOO_LARGE");
    return Buffer.from(await request.arrayBuffer());
  }
  if (!request.body) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ApiError("BODY_TOO_LARGE");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const decoder = new TextDecoder("utf-8", { fatal: true });
const checks = new WeakMap<TSchema, TypeCheck<TSchema>>();

/**
 * Names the catalogue entry to answer with when a property is missing or wrong, in place of
 * `MISSING_FIELD` and `INVALID_FIELD`: `Type.Literal("USDC", rejectWith("UNSUPPORTED_BRIDGE_TOKEN"))`.
 */
export function rejectWith(code: ErrorCode) {
  return { "x-error-code": code };
}

/** How a missing required field is reported; the contract has its own words per route. */
export type MissingMessage = (field: string) => string;

/**
 * Reads, parses and validates a JSON body. Unknown fields are ignored.
 * @param schema - TypeBox schema of the body; a property's `description` says what it must be
 * @param missing - message for the first required field that is absent
 * @throws ApiError `BODY_TOO_LARGE`, `INVALID_JSON`, `MISSING_FIELD`, `INVALID_FIELD`
 */
export async function readJson<Schema extends TSchema>(
  request: Request,
  schema: Schema,
  options: { maxBytes: number; missing: MissingMessage },
): Promise<Static<Schema>> {
  const bytes = await readBody(request, options.maxBytes);
  let body: unknown;
  try {
    body = JSON.parse(decoder.decode(bytes));
  } catch {
    throw new ApiError("INVALID_JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ApiError("INVALID_JSON", "Request body must be a JSON object");
  }
  let check = checks.get(schema);
  if (!check) checks.set(schema, (check = TypeCompiler.Compile(schema)));
  if (check.Check(body)) return body as Static<Schema>;

  const first = check.Errors(body).First();
  const code: unknown = first?.schema["x-error-code"];
  if (isErrorCode(code)) throw new ApiError(code);
  const field = first?.path.slice(1).replaceAll("/", ".") ?? "";
  if (first?.type === ValueErrorType.ObjectRequiredProperty || first?.value === null) {
    throw new ApiError("MISSING_FIELD", options.missing(field));
  }
  const expected: unknown = first?.schema["description"];
  const rule = typeof expected === "string" ? expected : (first?.message ?? "unexpected value");
  throw new ApiError("INVALID_FIELD", `Invalid field: ${field} (${rule})`);
}
