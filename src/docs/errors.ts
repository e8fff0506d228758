import { type ErrorCode, type ErrorEntry, errorCatalogue } from "../lib/errors.ts";
import { htmlPage } from "./page.ts";

/** One error as the documents show it. */
export interface ErrorDoc extends ErrorEntry {
  readonly code: ErrorCode;
  /** Ids of the public operations that can answer it; empty: the console only. */
  readonly operations: readonly string[];
}

/** The parts of an OpenAPI document that say which operation answers which errors. */
export interface DocumentedErrors {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationErrors>>>>;
}

interface OperationErrors {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly "x-error-codes"?: readonly string[] }>>;
}

/** Codes a caller meets outside of every documented operation. */
const outside: ReadonlySet<ErrorCode> = new Set(["ROUTE_NOT_FOUND", "TOO_MANY_SOCKETS"]);

/** Every error of the catalogue, with the operations of a document that can answer it. */
export function describeErrors({ paths }: DocumentedErrors): readonly ErrorDoc[] {
  const answers = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) =>
      Object.values(responses)
        .flatMap((response) => response["x-error-codes"] ?? [])
        .map((code) => ({ code, operationId })),
    );
  const byCode = Map.groupBy(answers, ({ code }) => code);
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  return codes.map((code) => {
    const { status, message, meaning, retry, help } = errorCatalogue[code];
    const operations = (byCode.get(code) ?? []).map(({ operationId }) => operationId);
    return { code, status, message, meaning, retry, help, operations };
  });
}

/** The catalogue as a page; its only file beside is the style sheet. */
export function errorsPage(errors: readonly ErrorDoc[]): string {
  const isPublic = ({ code, operations }: ErrorDoc) => operations.length > 0 || outside.has(code);
  return htmlPage({
    title: "Causeway errors",
    stylesheet: "/docs/errors.css",
    body: `    <main>
      <h1>Errors</h1>
      <p>
        Every error answer carries a stable code in the <code>X-Error-Code</code> header, and the body
        <code>{ "success": false, "error": "…" }</code>; the JSON-RPC proxy answers 400 with a JSON-RPC
        error instead. Errors are never charged. The same list <a href="/docs/errors.json">as JSON</a>;
        the endpoints <a href="/swagger">in Swagger UI</a>.
      </p>
      <h2>Public API</h2>
${errors.filter(isPublic).map(article).join("\n")}
      <h2>Console</h2>
${errors
  .filter((error) => !isPublic(error))
  .map(article)
  .join("\n")}
    </main>`,
  });
}

function article({ code, status, message, meaning, retry, help, operations }: ErrorDoc): string {
  const where = operations.map((id) => `<code>${id}</code>`).join(" ");
  return `      <article id="${code}">
        <h3><a href="#${code}">${code}</a> <span>${status}</span></h3>
        <p>${marked(meaning)}</p>
        <dl>
          <dt>Message</dt><dd>${escape(message)}</dd>
          <dt>Retry</dt><dd>${retry ? "The same request may succeed later." : "Not without a change."}</dd>
          <dt>What to do</dt><dd>${marked(help)}</dd>
${where && `          <dt>Operations</dt><dd>${where}</dd>\n`}        </dl>
      </article>`;
}

/** Text with \`code\` in it, as HTML. */
function marked(text: string): string {
  return escape(text).replaceAll(/`([^`]*)`/g, "<code>$1</code>");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
