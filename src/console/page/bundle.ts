import { fileURLToPath } from "node:url";

/** A file the page is made of. */
export interface Asset {
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
  /** Strong validator: the body's hash, quoted. */
  readonly etag: string;
}

/** The console's files by their path below `/console`; the page itself is the empty path. */
export type Assets = ReadonlyMap<string, Asset>;

const ENTRY = fileURLToPath(import.meta.resolve("../app/main.tsx"));
const STYLES = fileURLToPath(import.meta.resolve("../app/styles/main.css"));
const CHART_STYLES = fileURLToPath(import.meta.resolve("uplot/dist/uPlot.min.css"));

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" ' +
  'fill="#0d6b62"/><path d="M5 21c5-9 17-9 22 0M5 21h22M11 21v-4.6M16 21v-6.4M21 21v-4.6" fill="none" ' +
  'stroke="#fff" stroke-width="2.2" stroke-linecap="round"/></svg>';

/**
 * Bundles the page from its sources, in memory. File names carry their content's hash, so that
 * browsers may keep them for good.
 * @throws AggregateError when a source does not compile
 */
export async function bundlePage(): Promise<Assets> {
  const scripts = await Bun.build({
    entrypoints: [ENTRY],
    target: "browser",
    format: "esm",
    minify: true,
  });
  const styles = await Bun.build({ entrypoints: [CHART_STYLES, STYLES], minify: true });
  const [script] = await Promise.all(scripts.outputs.map((output) => output.text()));
  const sheets = await Promise.all(styles.outputs.map((output) => output.text()));
  const files = [
    hashed("app", "js", "text/javascript; charset=utf-8", script ?? ""),
    hashed("app", "css", "text/css; charset=utf-8", sheets.join("\n")),
    hashed("icon", "svg", "image/svg+xml", ICON),
  ];
  const [js, css, icon] = files.map(({ path }) => `/console${path}`);
  const page = asset("", "text/html; charset=utf-8", html(js ?? "", css ?? "", icon ?? ""));
  return new Map([page, ...files].map((file) => [file.path, file]));
}

function hashed(name: string, extension: string, contentType: string, body: string): Asset {
  return asset(`/assets/${name}-${hashOf(body)}.${extension}`, contentType, body);
}

function asset(path: string, contentType: string, body: string): Asset {
  return { path, contentType, body, etag: `"${hashOf(body)}"` };
}

function hashOf(body: string): string {
  return Bun.hash(body).toString(16).padStart(16, "0");
}

function html(script: string, styles: string, icon: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Causeway console</title>
    <link rel="icon" type="image/svg+xml" href="${icon}" />
    <link rel="stylesheet" href="${styles}" />
    <script type="module" src="${script}"></script>
  </head>
  <body>
    <div id="root"></div>
    <noscript><p class="noscript">The console needs JavaScript.</p></noscript>
  </body>
</html>
`;
}
