import { format } from "../compareCandidates.ts";
import type { Result, Row, Summary } from "../scenario.ts";

/** A result as text: the table with ratios first, then the notes. */
export function renderTable(result: Result): string {
  const figures = [...new Set(result.rows.flatMap((row) => Object.keys(row.figures)))];
  const hasRatio = result.baseline !== undefined;
  const header = ["", ...(hasRatio ? ["ratio"] : []), ...figures];
  const lines = result.rows.map((row) => [
    row.name,
    ...(hasRatio ? [ratioCell(row)] : []),
    ...figures.map((figure) => cell(row.figures[figure])),
  ]);
  return [
    `## ${result.scenario}: ${result.title}`,
    "",
    ...align([header, ...lines]),
    "",
    ...(hasRatio ? [`Ratio: ${result.headline} relative to ${result.baseline}.`] : []),
    ...result.notes,
    "",
  ].join("\n");
}

function ratioCell({ ratio }: Row): string {
  if (!ratio) return "–";
  return `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`;
}

function cell(summary: Summary | undefined): string {
  if (!summary) return "–";
  const { median, min, max } = summary;
  return min === max ? format(median) : `${format(median)} (${format(min)}–${format(max)})`;
}

/** Markdown table rows, padded so that they read as text too. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((text, column) => pad(text, widths[column] ?? 0, column)).join(" | ")} |`;
  const [header = [], ...body] = rows;
  const rule = widths.map((width, column) => (column === 0 ? "-" : "-").repeat(width));
  return [line(header), line(rule), ...body.map(line)];
}

function pad(text: string, width: number, column: number): string {
  return column === 0 ? text.padEnd(width) : text.padStart(width);
}
