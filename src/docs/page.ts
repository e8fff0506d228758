/** The Swagger UI page; everything it loads comes from this server. */
export function page(): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Causeway API</title>
    <link rel="icon" type="image/png" href="/swagger/favicon-32x32.png" />
    <link rel="stylesheet" href="/swagger/swagger-ui.css" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/swagger/swagger-ui-bundle.js"></script>
    <script src="/swagger/init.js"></script>
  </body>
</html>
`;
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
