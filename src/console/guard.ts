import { clientAddress, isForwardedHttps, originOf, parseBlocks } from "../access/index.ts";
import type { Config } from "../config/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { Call, Endpoint, Identity, SignedInCall } from "./endpoint.ts";
import { readSessionCookie } from "./session/cookie.ts";
import { requireOwnPage } from "./session/origin.ts";
import { type Attempts, callerSubject } from "./session/attempts.ts";
import type { Sessions } from "./session/sessions.ts";

export interface GuardOptions {
  readonly config: Config;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly isAdminToken: (presented: string) => Promise<boolean>;
}

/** Finds out who makes a request and whether it may be made. */
export interface Guard {
  /**
   * @param peer - address of the connection's other end
   * @throws ApiError `SIGNED_OUT`, `INVALID_ADMIN_TOKEN`, `OPERATOR_ONLY`, `FOREIGN_ORIGIN`,
   *   `TOO_MANY_SIGN_INS`
   */
  admit(
    endpoint: Endpoint,
    request: Request,
    params: Readonly<Record<string, string>>,
    peer: string | undefined,
  ): Promise<SignedInCall | Call>;
}

const BEARER = /^bearer +(\S+)$/i;

/**
 * The guard in front of the console's routes. People come with a session cookie, which browsers
 * send along unasked, so what changes something must come from the console's own page. Scripts
 * come with the admin token, which no browser sends by itself.
 */
export function createGuard({ config, sessions, attempts, isAdminToken }: GuardOptions): Guard {
  const trustedProxies = parseBlocks(config.listen.trustedProxies);

  const operatorByToken = async (token: string, address: string | undefined): Promise<Identity> => {
    const forgive = await attempts.count("token", callerSubject(address));
    if (!(await isAdminToken(token))) throw new ApiError("INVALID_ADMIN_TOKEN");
    await forgive();
    return { role: "operator" };
  };

  return {
    async admit(endpoint, request, params, peer) {
      const origin = originOf(request.headers, peer);
      const isHttps = config.listen.tls !== undefined || isForwardedHttps(origin, trustedProxies);
      const address = clientAddress(origin, trustedProxies);
      const call = { request, params, query: new URL(request.url).searchParams, address, isHttps };

      const token = BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
      if (token === undefined && endpoint.method !== "GET") {
        requireOwnPage(request, config.console.publicOrigin, isHttps);
      }
      if (endpoint.access === "anyone") return { ...call, identity: undefined };
      const cookie = readSessionCookie(request, isHttps);
      const identity =
        token === undefined
          ? cookie && (await sessions.find(cookie))?.identity
          : await operatorByToken(token, address);
      if (!identity) throw new ApiError("SIGNED_OUT");
      if (endpoint.access === "operator" && identity.role !== "operator") {
        throw new ApiError("OPERATOR_ONLY");
      }
      return { ...call, identity };
    },
  };
}
