import type { Server } from "bun";
import type { Config } from "../config/index.ts";
import { isErrorCode } from "../lib/errors.ts";
import { Presence } from "../lib/presence.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Access } from "./access.ts";
import { noteFailure, openPassage, type Passage, type RequestObserver } from "./admission.ts";
import { addHeaders, settle } from "./answer.ts";
import { errorHandler } from "./errorHandler.ts";
import { createChecks } from "./gate.ts";
import type { OperationId } from "./operations.ts";

/** An answer before it is made into a `Response`, which costs more each time a header is added. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: BodyInit | null;
}

/** Answers a request the gate let in; `presence` ends when the client hangs up. */
export type DirectHandler = (
  request: Bun.BunRequest<string>,
  presence: Presence,
) => Promise<PlainAnswer>;

/** What a direct route needs of the service. */
export interface DirectDependencies {
  readonly access: Access;
  readonly config: Config;
  readonly log: Logger;
  readonly observer: RequestObserver;
}

/**
 * Makes routes that the server's own router calls, without the framework between: through the
 * checks, charges, headers and errors of the gate, for what must cost as little as it can.
 */
export function directRoutes({ access, config, log, observer }: DirectDependencies) {
  const check = createChecks(access, config);
  const answerError = errorHandler(log);

  return (operation: OperationId, handle: DirectHandler) =>
    async (request: Bun.BunRequest<string>, server: Server<unknown>): Promise<Response> => {
      const passage = openPassage(request, access, observer);
      const presence = new Presence(request);
      try {
        await check(request, passage, () => server.requestIP(request)?.address, operation);
        const answer = await handle(request, presence);
        await settle(passage, answer.status, presence.aborted);
        return conclude(passage, request, answer);
      } catch (error) {
        return answerError({ error, code: "UNKNOWN", request });
      } finally {
        presence.end();
      }
    };
}

function conclude(passage: Passage, request: Request, answer: PlainAnswer): Response {
  const { status, headers, body } = answer;
  passage.observe(passage.operation, status);
  const code = headers["x-error-code"];
  if (isErrorCode(code)) noteFailure(passage, request, { status, code });
  addHeaders(passage, headers);
  return new Response(body, { status, headers });
}
