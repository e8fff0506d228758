/** A JSON value, as found in an OpenAPI document. */
type Json = string | number | boolean | null | Json[] | JsonObject;
type JsonObject = { [key: string]: Json };

/** The document's own members; operations come from the routes. */
export const documentInfo = {
  info: {
    title: "Causeway",
    version: "1.0.0",
    description:
      "Swap quotes, unsigned swap transactions, a JSON-RPC proxy, a USDC bridge, spot prices and " +
      "wallet balances over one metered API.\n\n" +
      "Every endpoint needs an API key, sent as `Authorization: Bearer <key>` or `x-api-key: <key>`. " +
      "Every error carries a stable `X-Error-Code` header; [what each means and what to do](/docs/errors).",
    license: { name: "Apache-2.0" },
  },
  externalDocs: {
    url: "/docs/errors",
    description: "Every error code, its meaning and its remedy.",
  },
  servers: [{ url: "/" }],
  tags: [
    { name: "Swap", description: "Quotes, unsigned transactions and the DEX catalog." },
    { name: "RPC", description: "JSON-RPC 2.0 over health-scored upstream nodes." },
    { name: "Bridge", description: "USDC transfers over Circle's CCTP V2." },
    { name: "Market data", description: "Spot prices and wallet balances." },
    { name: "Usage", description: "What a key used." },
  ],
  components: {
    securitySchemes: {
      bearerAuth: {
        type: "http" as const,
        scheme: "bearer",
        description: "`sk_live_…` or `sk_test_…`",
      },
      apiKeyHeader: { type: "apiKey" as const, in: "header" as const, name: "x-api-key" },
    },
  },
};

/**
 * Makes a generated document valid OpenAPI 3.0.3: JSON Schema keywords that 3.0 does not know are
 * rewritten (`const` → `enum`) or dropped (`$id`, `patternProperties`), and what route
 * registration adds by itself (empty parameter lists) is removed.
 */
export function cleanDocument(document: Json): Json {
  if (Array.isArray(document)) return document.map(cleanDocument);
  if (typeof document !== "object" || document === null) return document;
  const cleaned: JsonObject = {};
  for (const [key, value] of Object.entries(document)) {
    if (key === "$id" || key === "patternProperties") continue;
    if (key === "example" || key === "examples") cleaned[key] = value;
    else if (key === "const") cleaned["enum"] = [value];
    else cleaned[key] = cleanDocument(value);
  }
  return mergeLiterals(mergeNull(cleaned));
}

/** A union with null is nullable; 3.0 has no null type. */
function mergeNull(schema: JsonObject): JsonObject {
  const members = schema["anyOf"];
  if (!Array.isArray(members)) return schema;
  const others = members.filter((member) => !isObject(member) || member["type"] !== "null");
  if (others.length === members.length) return schema;
  const { anyOf: _, ...rest } = schema;
  const [only] = others;
  if (others.length === 1 && isObject(only)) return { ...only, ...rest, nullable: true };
  return { ...rest, anyOf: others, nullable: true };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A union of literals is one enum. */
function mergeLiterals(schema: JsonObject): Json {
  const members = schema["anyOf"];
  if (!Array.isArray(members)) return schema;
  const values: Json[] = [];
  for (const member of members) {
    if (!isObject(member)) return schema;
    const literal = member["enum"];
    if (!Array.isArray(literal) || literal.length !== 1 || member["type"] !== "string")
      return schema;
    values.push(...literal);
  }
  const { anyOf: _, ...rest } = schema;
  return { ...rest, type: "string", enum: values };
}
