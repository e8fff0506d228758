import type { TSchema } from "@sinclair/typebox";
import { type ErrorCode, errorCatalogue } from "../lib/errors.ts";
import { type OperationId, operations } from "./operations.ts";

/** What the API documents say about one endpoint, beside what the operations table knows. */
export interface OperationDoc {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Path parameters, by name. */
  readonly parameters?: Readonly<Record<string, { description: string; example: string }>>;
  /** Query parameters and headers a caller may send, by name. */
  readonly optional?: Readonly<
    Record<string, { readonly in: "query" | "header"; readonly description: string }>
  >;
  readonly request?: { readonly schema: TSchema; readonly example: unknown };
  readonly response: { readonly schema: TSchema; readonly example: unknown };
  /** Answer headers beyond those every authenticated answer carries. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Codes of the catalogue this endpoint can answer, beside those the gate gives everywhere. */
  readonly errors: readonly ErrorCode[];
  /** Statuses whose body is not the error envelope, and that body. */
  readonly ownErrorBody?: {
    readonly statuses: readonly number[];
    readonly schema: TSchema;
    readonly example: unknown;
  };
}

/** Codes the gate or the shared body reader can answer on every endpoint. */
const gateErrors: readonly ErrorCode[] = [
  "HTTPS_REQUIRED",
  "INVALID_API_KEY",
  "RATE_LIMIT_EXCEEDED",
  "CU_ALLOWANCE_EXCEEDED",
  "SCOPE_REQUIRED",
  "METHOD_NOT_ALLOWED",
  "INTERNAL",
];

const bodyErrors: readonly ErrorCode[] = ["INVALID_JSON", "BODY_TOO_LARGE"];

const envelopeSchema = {
  type: "object",
  required: ["success", "error"],
  properties: { success: { type: "boolean", enum: [false] }, error: { type: "string" } },
};

/**
 * The Elysia hook of an endpoint: its OpenAPI operation, and `parse: "none"`, because handlers
 * read their own body with `readJson`, which knows the size limit and the contract's messages.
 */
export function describeOperation(id: OperationId, doc: OperationDoc) {
  const { scope, cu } = operations[id];
  const codes = [...gateErrors, ...(doc.request ? bodyErrors : []), ...doc.errors];
  return {
    parse: "none" as const,
    detail: {
      operationId: id,
      summary: doc.summary,
      description: [
        doc.description ?? "",
        `Costs ${cu} CU. ${scope ? `Needs the \`${scope}\` scope.` : "Any valid key may call it."}`,
      ]
        .join("\n\n")
        .trim(),
      tags: [doc.tag],
      security: [{ bearerAuth: [] }, { apiKeyHeader: [] }],
      parameters: [...pathParameters(doc), ...optionalParameters(doc)],
      ...(doc.request && {
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: doc.request.schema, example: doc.request.example },
          },
        },
      }),
      responses: {
        200: {
          description: "Success",
          headers: headerDocs(doc.headers),
          content: {
            "application/json": { schema: doc.response.schema, example: doc.response.example },
          },
        },
        ...errorResponses(codes, doc.ownErrorBody),
      },
    },
  };
}

const text = { type: "string" as const };

function pathParameters({ parameters = {} }: OperationDoc) {
  return Object.entries(parameters).map(([name, { description, example }]) => {
    return { name, in: "path" as const, required: true, schema: text, description, example };
  });
}

function optionalParameters({ optional = {} }: OperationDoc) {
  return Object.entries(optional).map(([name, { in: place, description }]) => {
    return { name, in: place, required: false, schema: text, description };
  });
}

function headerDocs(extra: Readonly<Record<string, string>> = {}) {
  const all: Record<string, string> = {
    "X-Request-Id": "Id of this request, for the operator's logs.",
    "X-RateLimit-Limit": "Requests permitted in the 60-second window.",
    "X-RateLimit-Remaining": "Requests remaining in the window.",
    "X-RateLimit-Reset": "Unix time in seconds at which the window ends.",
    "X-CU-Cost": "Compute units charged for this answer.",
    ...extra,
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, description]) => [
      name,
      { description, schema: { type: "string" as const } },
    ]),
  );
}

function errorResponses(codes: readonly ErrorCode[], own: OperationDoc["ownErrorBody"]) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = errorCatalogue[code].status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus
          .map((code) => `\`${code}\`: ${errorCatalogue[code].help}`)
          .join("\n\n"),
        content: {
          "application/json": own?.statuses.includes(status)
            ? { schema: own.schema, example: own.example }
            : { schema: envelopeSchema, examples: envelopeExamples(ofStatus) },
        },
      },
    ]),
  );
}

function envelopeExamples(codes: readonly ErrorCode[]) {
  const entries = codes.map((code) => {
    return [code, { value: { success: false, error: errorCatalogue[code].message } }];
  });
  return Object.fromEntries(entries);
}
