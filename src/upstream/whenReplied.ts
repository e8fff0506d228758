import type { CancelSignal } from "../lib/cancel.ts";
import type { CallUnderWay, ReplyTarget, RpcReply } from "./types.ts";

/**
 * A call as a promise.
 * @param start - begins it, and may tell its target at once
 * @throws what the call fails with, or the signal's reason
 */
export function whenReplied(
  signal: CancelSignal | undefined,
  start: (target: ReplyTarget) => CallUnderWay,
): Promise<RpcReply> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<RpcReply>();
  if (!signal) {
    start({ replied: resolve, failed: reject });
    return promise;
  }
  let underWay: CallUnderWay | undefined;
  const onAbort = () => {
    underWay?.abort();
    reject(signal.reason);
  };
  const end = () => signal.removeEventListener("abort", onAbort);
  signal.addEventListener("abort", onAbort, { once: true });
  underWay = start({
    replied(reply) {
      end();
      resolve(reply);
    },
    failed(error) {
      end();
      reject(error);
    },
  });
  return promise;
}
