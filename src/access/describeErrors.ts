import type { TSchema } from "@sinclair/typebox";
import { type ErrorCode, errorCatalogue } from "../lib/errors.ts";

/** Error answers of an endpoint whose body is not the error envelope. */
export interface OwnErrorBody {
  readonly statuses: readonly number[];
  readonly schema: TSchema;
  readonly example: unknown;
}

const envelopeSchema = {
  type: "object",
  required: ["success", "error"],
  properties: { success: { type: "boolean", enum: [false] }, error: { type: "string" } },
};

/** Headers of the answers with one status. */
const headersOfStatus: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "`Bearer`." },
  405: { Allow: "Methods of this path." },
  429: { "Retry-After": "Seconds to wait, at least 1." },
};

/**
 * The OpenAPI responses of an endpoint's errors, by status. `x-error-codes` lists the codes of a
 * status for programs; the description explains them.
 */
export function errorResponses(codes: readonly ErrorCode[], own: OwnErrorBody | undefined) {
  const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map(explanation).join("\n\n"),
        headers: {
          "X-Error-Code": {
            description: "Which error it is; see /docs/errors.",
            schema: { type: "string" as const, enum: ofStatus },
          },
          ...headerDocs({
            "X-Request-Id": "Id of this request, for the operator's logs.",
            ...headersOfStatus[status],
          }),
        },
        content: {
          "application/json": own?.statuses.includes(status)
            ? { schema: own.schema, example: own.example }
            : { schema: envelopeSchema, examples: envelopeExamples(ofStatus) },
        },
        "x-error-codes": ofStatus,
      },
    ]),
  );
}

/** OpenAPI headers with these descriptions. */
export function headerDocs(descriptions: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(descriptions).map(([name, description]) => [
      name,
      { description, schema: { type: "string" as const } },
    ]),
  );
}

function explanation(code: ErrorCode): string {
  const { meaning, help } = errorCatalogue[code];
  return `[\`${code}\`](/docs/errors#${code}): ${meaning} ${help}`;
}

function envelopeExamples(codes: readonly ErrorCode[]) {
  const entries = codes.map((code) => {
    return [code, { value: { success: false, error: errorCatalogue[code].message } }];
  });
  return Object.fromEntries(entries);
}
