/** The service refused a request; the message is meant to be read. */
export class RequestFailure extends Error {
  override readonly name = "RequestFailure";
  constructor(
    message: string,
    /** `X-Error-Code`; undefined when the service could not be reached. */
    readonly code: string | undefined,
  ) {
    super(message);
  }
}

const TIMEOUT_MS = 70_000;

/** Told when the session has ended. */
let onSignedOut: () => void = () => {};

/** Says what to do when the service no longer knows the session. */
export function whenSignedOut(act: () => void): void {
  onSignedOut = act;
}

/**
 * Asks one of the console's JSON routes.
 * @param path - below `/console/api`
 * @throws RequestFailure
 */
export async function ask<Data>(path: string, method = "GET", body?: unknown): Promise<Data> {
  const response = await fetch(`/console/api${path}`, {
    method,
    headers: {
      "x-causeway-console": "1",
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => {
    throw new RequestFailure("The service cannot be reached.", undefined);
  });
  const answer = (await response.json()) as { data: Data; error?: string };
  if (response.ok) return answer.data;
  const code = response.headers.get("x-error-code") ?? undefined;
  if (code === "SIGNED_OUT") onSignedOut();
  throw new RequestFailure(answer.error ?? `HTTP ${response.status}`, code);
}

/** What went wrong, to be shown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
