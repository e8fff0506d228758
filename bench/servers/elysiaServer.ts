import { Elysia, t } from "elysia";

/**
 * A bare Elysia route: `elysiaServer.ts <port> <text>` checks a JSON-RPC body against a schema on
 * POST, nothing on GET, and answers a constant.
 */
const [port, text = ""] = process.argv.slice(2);
const headers = { "content-type": "application/json" };
const answer = () => new Response(text, { headers });

new Elysia()
  .post("/*", answer, {
    body: t.Object({
      jsonrpc: t.Literal("2.0"),
      method: t.String(),
      params: t.Array(t.Unknown()),
      id: t.Integer(),
    }),
  })
  .get("/*", answer)
  .listen({ hostname: "127.0.0.1", port: Number(port) });
