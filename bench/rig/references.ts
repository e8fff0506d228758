import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../src/sandbox/ports.ts";
import type { Rig, RunningServer } from "./rig.ts";

/** Starts nginx as a plain reverse proxy; undefined when it is not on the PATH. */
export async function startNginx(
  rig: Rig,
  upstreamPort: number,
): Promise<RunningServer | undefined> {
  const nginx = Bun.which("nginx") ?? Bun.which("nginx", { PATH: "/usr/sbin:/usr/local/sbin" });
  if (!nginx) return undefined;
  const port = freePort();
  const dir = join(rig.dir, `nginx-${port}`);
  mkdirSync(dir);
  const file = join(dir, "nginx.conf");
  writeFileSync(file, nginxConfig(dir, port, upstreamPort));
  return rig.serve({
    name: `nginx-${port}`,
    place: "server",
    command: [nginx, "-e", "stderr", "-c", file],
    port,
  });
}

/**
 * One worker on one core, keep-alive on both sides, no log, and buffers that hold the largest
 * answer of the scenarios, so that nothing is written to disk.
 */
function nginxConfig(dir: string, port: number, upstreamPort: number): string {
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
daemon off;
worker_processes 1;
pid ${dir}/nginx.pid;
events { worker_connections 16384; }
http {
  access_log off;
  ${places.map((name) => `${name}_temp_path ${dir}/${name};`).join("\n  ")}
  keepalive_timeout 300s;
  keepalive_requests 1000000000;
  client_max_body_size 8m;
  proxy_buffers 64 32k;
  proxy_max_temp_file_size 0;
  upstream node {
    server 127.0.0.1:${upstreamPort};
    keepalive 512;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://node;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`;
}

/** Starts a bare Bun.serve that answers `text` to everything. */
export function startBareBun(rig: Rig, text: string): Promise<RunningServer> {
  return startScript(rig, "bunServer.ts", ["constant", text]);
}

/** Starts a bare Bun.serve that passes through with fetch. */
export function startFetchProxy(rig: Rig, upstreamUrl: string): Promise<RunningServer> {
  return startScript(rig, "bunServer.ts", ["proxy", upstreamUrl]);
}

/** Starts a bare Elysia route that checks the body and answers `text`. */
export function startBareElysia(rig: Rig, text: string): Promise<RunningServer> {
  return startScript(rig, "elysiaServer.ts", [text]);
}

function startScript(rig: Rig, script: string, args: readonly string[]): Promise<RunningServer> {
  const port = freePort();
  const path = join(import.meta.dir, "../servers", script);
  return rig.serve({
    name: `${script}-${port}`,
    place: "server",
    command: [process.execPath, path, String(port), ...args],
    env: { BUN_CONFIG_MAX_HTTP_REQUESTS: "16384" },
    port,
  });
}
