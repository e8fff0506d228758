import { fileURLToPath } from "node:url";
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import { dataResponse, jsonResponse } from "../lib/http.ts";
import { describeErrors, type DocumentedErrors, errorsPage } from "./errors.ts";
import { cleanDocument, documentInfo } from "./openapi.ts";
import { initializer, swaggerPage } from "./page.ts";

const SPEC_PATH = "/openapi.json";

/** Files of swagger-ui-dist that the page needs, served from disk. */
const ASSETS = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
} as const;

/** Only this server's files; the UI sets inline styles, and its icons are data URLs. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

/**
 * Swagger UI at /swagger and the OpenAPI document at /swagger/json.
 * @param api - the app whose routes are documented
 */
export function docsRoutes(api: AnyElysia) {
  let generated: Promise<string> | undefined;
  const document = () => (generated ??= generate(api));
  const docs = new Elysia({ name: "docs" })
    .use(errorRoutes(async () => JSON.parse(await document())))
    .get("/swagger", () => html(swaggerPage()), { detail: { hide: true } })
    .get("/swagger/init.js", () => script(initializer()), { detail: { hide: true } })
    .get(
      "/swagger/json",
      async () =>
        new Response(await document(), { headers: { "content-type": "application/json" } }),
      { detail: { hide: true } },
    );
  for (const [name, contentType] of Object.entries(ASSETS)) {
    const file = Bun.file(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));
    docs.get(`/swagger/${name}`, () => asset(file, contentType), { detail: { hide: true } });
  }
  return docs;
}

/** The errors catalogue at /docs/errors, and as JSON. */
function errorRoutes(document: () => Promise<DocumentedErrors>) {
  const style = Bun.file(new URL("errors.css", import.meta.url));
  const hidden = { detail: { hide: true } };
  return new Elysia({ name: "docs-errors" })
    .get("/docs/errors", async () => html(errorsPage(describeErrors(await document()))), hidden)
    .get("/docs/errors.json", async () => dataResponse(describeErrors(await document())), hidden)
    .get("/docs/errors.css", () => asset(style, "text/css; charset=utf-8"), hidden);
}

function asset(file: Blob, contentType: string): Response {
  return new Response(file, {
    headers: { "content-type": contentType, "cache-control": "public, max-age=86400" },
  });
}

/** Runs the generator on an app of its own, so that its CDN-backed page is never served. */
async function generate(api: AnyElysia): Promise<string> {
  const generator = new Elysia()
    .use(
      swagger({
        path: "/ui",
        specPath: SPEC_PATH,
        provider: "swagger-ui",
        documentation: documentInfo,
      }),
    )
    .use(api);
  const answer = await generator.handle(new Request(`http://localhost${SPEC_PATH}`));
  return JSON.stringify(cleanDocument(await answer.json()));
}

function html(body: string): Response {
  return new Response(body, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": CONTENT_SECURITY_POLICY,
    },
  });
}

function script(body: string): Response {
  return new Response(body, { headers: { "content-type": "text/javascript; charset=utf-8" } });
}

/** Operational endpoints: liveness, readiness and Prometheus metrics; no key needed. */
export function systemRoutes(system: {
  ready: () => boolean;
  metrics: () => Promise<string>;
  metricsContentType: string;
}) {
  return new Elysia({ name: "system" })
    .get("/health", () => jsonResponse({ status: "ok" }), { detail: { hide: true } })
    .get(
      "/ready",
      () =>
        system.ready()
          ? jsonResponse({ status: "ready" })
          : jsonResponse({ status: "draining" }, 503),
      { detail: { hide: true } },
    )
    .get(
      "/metrics",
      async () =>
        new Response(await system.metrics(), {
          headers: { "content-type": system.metricsContentType },
        }),
      { detail: { hide: true } },
    );
}
