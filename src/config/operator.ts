import { ConfigError, type Environment } from "./index.ts";

/** Where operator commands find a running service. */
export interface OperatorTarget {
  /** Origin, without a slash at its end. */
  readonly baseUrl: string;
  readonly adminToken: string;
}

/**
 * Reads `CAUSEWAY_URL` (else `HOST` and `PORT` as the service does) and `ADMIN_TOKEN`.
 * @throws ConfigError when the token is missing or the URL is none
 */
export function loadOperatorTarget(env: Environment = process.env): OperatorTarget {
  const own = `http://${env["HOST"] ?? "127.0.0.1"}:${env["PORT"] ?? "3000"}`;
  const url = URL.parse(env["CAUSEWAY_URL"] ?? own);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError("CAUSEWAY_URL must be the http(s) URL of the running service");
  }
  const adminToken = env["ADMIN_TOKEN"];
  if (!adminToken) throw new ConfigError("ADMIN_TOKEN must hold the service's operator token");
  return { baseUrl: url.href.replace(/\/+$/, ""), adminToken };
}
