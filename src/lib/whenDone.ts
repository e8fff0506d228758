import type { CancelSignal } from "./cancel.ts";

/** A task under way. */
export interface Abortable {
  /** Nobody waits for it any longer; whoever was to be told is told nothing more. */
  abort(): void;
}

/** What is over already, or cannot be taken back. */
export const notAbortable: Abortable = { abort() {} };

/**
 * A task that calls back, as a promise.
 * @param signal - ends it
 * @param start - begins it, and may call back at once
 * @param reason - what the promise rejects with when the signal aborts; the signal's own by default
 */
export function whenDone<Value>(
  signal: CancelSignal | undefined,
  start: (resolve: (value: Value) => void, reject: (error: unknown) => void) => Abortable,
  reason: () => unknown = () => signal?.reason,
): Promise<Value> {
  if (signal?.aborted) return Promise.reject(reason());
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  if (!signal) {
    start(resolve, reject);
    return promise;
  }
  let underWay: Abortable | undefined;
  const onAbort = () => {
    underWay?.abort();
    reject(reason());
  };
  const end = () => signal.removeEventListener("abort", onAbort);
  signal.addEventListener("abort", onAbort, { once: true });
  underWay = start(
    (value) => {
      end();
      resolve(value);
    },
    (error) => {
      end();
      reject(error);
    },
  );
  return promise;
}
