/** With the `__Host-` prefix browsers refuse it from anywhere but this very host over https. */
const NAME = "causeway_session";

function cookieName(isHttps: boolean): string {
  return isHttps ? `__Host-${NAME}` : NAME;
}

/** The session cookie of a request; of several, the first. */
export function readSessionCookie(request: Request, isHttps: boolean): string | undefined {
  const prefix = `${cookieName(isHttps)}=`;
  return (request.headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(prefix))
    ?.slice(prefix.length);
}

/**
 * The `Set-Cookie` value that keeps a session in the browser.
 * @param maxAgeSeconds - 0 takes it away
 */
export function sessionCookie(value: string, maxAgeSeconds: number, isHttps: boolean): string {
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`;
  return `${cookieName(isHttps)}=${value}; ${attributes}${isHttps ? "; Secure" : ""}`;
}
