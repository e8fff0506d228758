import type { CancelSignal } from "../../src/lib/cancel.ts";
import { whenDone } from "../../src/lib/whenDone.ts";
import {
  type AnswerLimits,
  type Connection,
  ConnectionError,
  type HttpAnswer,
} from "../../src/upstream/connection.ts";
import type { RequestText } from "../../src/upstream/requestText.ts";

export interface SendOptions extends AnswerLimits {
  /** Ends the request, whatever its state. */
  readonly signal: CancelSignal;
}

/**
 * Posts a body and waits for the answer.
 * @throws ConnectionError
 */
export async function send(
  connection: Connection,
  body: string,
  { signal, ...limits }: SendOptions,
): Promise<HttpAnswer> {
  const gone = new ConnectionError("aborted");
  return whenDone<HttpAnswer>(
    signal,
    (resolve, reject) => {
      const target = {
        answered: resolve,
        faulted: (fault: ConnectionError["fault"]) => reject(new ConnectionError(fault)),
      };
      const sending = connection.post(requestText(body), limits, target);
      return { abort: () => sending.drop() };
    },
    () => gone,
  );
}

function requestText(body: string): RequestText {
  return { length: body.length, writeTo: (bytes, at) => at + bytes.write(body, at) };
}

/** What a request would be sent as. */
export function textOf(body: RequestText): string {
  const bytes = Buffer.alloc(3 * body.length);
  return bytes.toString("utf8", 0, body.writeTo(bytes, 0));
}
