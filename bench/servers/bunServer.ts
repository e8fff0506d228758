/**
 * A bare Bun.serve: `bunServer.ts <port> constant <text>` answers a constant, `bunServer.ts <port>
 * proxy <url>` passes every request through with fetch and does nothing else.
 */
const [port, kind, argument = ""] = process.argv.slice(2);
const headers = { "content-type": "application/json" };

function answerConstant(): Response {
  return new Response(argument, { headers });
}

async function passThrough(request: Request): Promise<Response> {
  if (request.method !== "POST") return new Response("ok");
  const body = await request.bytes();
  const answer = await fetch(argument, { method: "POST", headers, body });
  return new Response(await answer.bytes(), { status: answer.status, headers });
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  fetch: kind === "proxy" ? passThrough : answerConstant,
});
