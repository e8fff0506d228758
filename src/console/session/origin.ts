import { ApiError } from "../../lib/errors.ts";

/** A page of another site cannot set it without asking first, which is never granted. */
export const CONSOLE_HEADER = "x-causeway-console";

const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/;

/**
 * The origin the console is opened at, for a wallet to sign in to: the configured one, or on
 * loopback the one the browser names. Any other `Host` may be a stranger's in between, for whose
 * page no wallet must be made to sign.
 * @throws ApiError `WALLET_SIGN_IN_UNAVAILABLE`
 */
export function signInOrigin(
  request: Request,
  publicOrigin: string | undefined,
  isHttps: boolean,
): URL {
  if (publicOrigin !== undefined) return new URL(publicOrigin);
  const origin = requestOrigin(request, isHttps);
  if (origin && LOOPBACK.test(origin.hostname)) return origin;
  throw new ApiError("WALLET_SIGN_IN_UNAVAILABLE");
}

/**
 * Makes sure that a request which changes something comes from a page of this console.
 * @throws ApiError `FOREIGN_ORIGIN`
 */
export function requireOwnPage(
  request: Request,
  publicOrigin: string | undefined,
  isHttps: boolean,
): void {
  const { headers } = request;
  const site = headers.get("sec-fetch-site");
  const own = publicOrigin ?? requestOrigin(request, isHttps)?.origin;
  const isOwn =
    own !== undefined &&
    headers.get("origin") === own &&
    headers.get(CONSOLE_HEADER) === "1" &&
    (site === null || site === "same-origin");
  if (!isOwn) throw new ApiError("FOREIGN_ORIGIN");
}

function requestOrigin(request: Request, isHttps: boolean): URL | undefined {
  const host = request.headers.get("host");
  return (host && URL.parse(`${isHttps ? "https" : "http"}://${host}`)) || undefined;
}
