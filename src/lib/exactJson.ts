type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

// The reviver's third argument (ECMA-262, JSON.parse source text access) is not in the type yet.
const parse = JSON.parse as (text: string, reviver: SourceReviver) => unknown;

/**
 * Parses JSON with every number kept as the text it was written in, so that integers beyond 2^53
 * and long decimals lose nothing.
 * @throws SyntaxError when the text is not JSON
 * @example parseExactJson('{"value":18446744073709551615}') // { value: "18446744073709551615" }
 */
export function parseExactJson(text: string): unknown {
  return parse(text, (_key, value, context) =>
    typeof value === "number" ? context.source : value,
  );
}

/**
 * The member at a path of keys and indexes, or undefined where the shape is another one.
 * @example member({ value: [{ amount: "1" }] }, "value", 0, "amount") // "1"
 */
export function member(data: unknown, ...path: readonly (string | number)[]): unknown {
  let current = data;
  for (const key of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) {
      return undefined;
    }
    current = (current as Record<string | number, unknown>)[key];
  }
  return current;
}
