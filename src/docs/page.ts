/** A page of the documents; its style sheet and everything else come from this server. */
export function htmlPage(options: { title: string; stylesheet: string; body: string }): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${options.title}</title>
    <link rel="icon" type="image/png" href="/swagger/favicon-32x32.png" />
    <link rel="stylesheet" href="${options.stylesheet}" />
  </head>
  <body>
${options.body}
  </body>
</html>
`;
}

/** The Swagger UI page. */
export function swaggerPage(): string {
  return htmlPage({
    title: "Causeway API",
    stylesheet: "/swagger/swagger-ui.css",
    body: `    <div id="swagger-ui"></div>
    <script src="/swagger/swagger-ui-bundle.js"></script>
    <script src="/swagger/init.js"></script>`,
  });
}

/** Starts the UI; a file of its own because the page's policy forbids inline scripts. */
export function initializer(): string {
  return `window.ui = SwaggerUIBundle({
  url: "/swagger/json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  persistAuthorization: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;
}
