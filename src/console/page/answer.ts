import type { Asset, Assets } from "./bundle.ts";

/** Only this server's files and answers; no inline script or style, no frame, no form elsewhere. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

const YEAR_SECONDS = 31_536_000;

const SAFETY_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/**
 * Answers with one of the page's files; 304 when the browser has it already.
 * @returns undefined when there is no such file
 */
export function assetAnswer(assets: Assets, path: string, request: Request): Response | undefined {
  const asset = assets.get(path);
  if (!asset) return undefined;
  const headers = { ...SAFETY_HEADERS, etag: asset.etag, "cache-control": cacheControl(asset) };
  if (request.headers.get("if-none-match") === asset.etag) {
    return new Response(null, { status: 304, headers });
  }
  return new Response(asset.body, { headers: { ...headers, "content-type": asset.contentType } });
}

/** The page is asked for each time; what it names has its content's hash in its name. */
function cacheControl({ path }: Asset): string {
  return path === "" ? "no-cache" : `public, max-age=${YEAR_SECONDS}, immutable`;
}
