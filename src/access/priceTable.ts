import { type Operation, operations } from "./operations.ts";

/** What every endpoint costs and which scope it needs, as a Markdown table. */
export function priceTable(): string {
  const rows = Object.values(operations).map(({ method, path, scope, cu, socket }: Operation) => {
    // What takes sockets takes batches, and charges each of their items.
    const cost = socket ? `${cu} per call of a batch, message or notification` : String(cu);
    return `| \`${method} ${path}\` | ${scope ?? "any"} | ${cost} |`;
  });
  return ["| Endpoint | Scope | CU |", "| --- | --- | --- |", ...rows].join("\n");
}
