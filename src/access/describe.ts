import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../lib/errors.ts";
import { errorResponses, headerDocs, type OwnErrorBody } from "./describeErrors.ts";
import { type Operation, type OperationId, operations } from "./operations.ts";

/** What the API documents say about one endpoint, beside what the operations table knows. */
export interface OperationDoc {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Path parameters, by name. */
  readonly parameters?: Readonly<Record<string, { description: string; example: string }>>;
  /** Query parameters and headers a caller may send, by name. */
  readonly optional?: Readonly<Record<string, OptionalParameter>>;
  readonly request?: { readonly schema: TSchema; readonly example: unknown };
  readonly response: { readonly schema: TSchema; readonly example: unknown };
  /** Answer headers beyond those every authenticated answer carries. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Codes of the catalogue this endpoint can answer, beside those the gate gives everywhere. */
  readonly errors: readonly ErrorCode[];
  /** Statuses whose body is not the error envelope, and that body. */
  readonly ownErrorBody?: OwnErrorBody;
}

/** A query parameter or header that may be left out. */
export interface OptionalParameter {
  readonly in: "query" | "header";
  readonly description: string;
  /** What its text must be like. */
  readonly schema?: {
    readonly pattern?: string;
    readonly minLength?: number;
    readonly maxLength?: number;
  };
}

/** Codes the gate can answer on an endpoint. */
function gateErrors({ scope, cu }: Operation): readonly ErrorCode[] {
  return [
    "HTTPS_REQUIRED",
    "INVALID_API_KEY",
    "RATE_LIMIT_EXCEEDED",
    ...(cu > 0 ? (["CU_ALLOWANCE_EXCEEDED"] as const) : []),
    ...(scope ? (["SCOPE_REQUIRED"] as const) : []),
    "METHOD_NOT_ALLOWED",
    "INTERNAL",
  ];
}

/** Codes the shared body reader can answer. */
const bodyErrors: readonly ErrorCode[] = ["INVALID_JSON", "BODY_TOO_LARGE"];

/**
 * The Elysia hook of an endpoint: its OpenAPI operation, and `parse: "none"`, because handlers
 * read their own body with `readJson`, which knows the size limit and the contract's messages.
 */
export function describeOperation(id: OperationId, doc: OperationDoc) {
  const { scope, cu } = operations[id];
  const codes = [...gateErrors(operations[id]), ...(doc.request ? bodyErrors : []), ...doc.errors];
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
          headers: headerDocs({ ...commonHeaders, ...doc.headers }),
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
  return Object.entries(optional).map(([name, { in: place, description, schema }]) => {
    return { name, in: place, required: false, schema: { ...text, ...schema }, description };
  });
}

/** What every authenticated answer carries. */
const commonHeaders: Readonly<Record<string, string>> = {
  "X-Request-Id": "Id of this request, for the operator's logs.",
  "X-RateLimit-Limit": "Requests permitted in the 60-second window.",
  "X-RateLimit-Remaining": "Requests remaining in the window.",
  "X-RateLimit-Reset": "Unix time in seconds at which the window ends.",
  "X-CU-Cost": "Compute units charged for this answer.",
};
