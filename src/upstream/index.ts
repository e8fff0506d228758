export { createUpstreamPool, type UpstreamPoolDependencies } from "./pool.ts";
export { createUrlGuard, type UrlGuard, type UrlGuardOptions } from "./guard.ts";
export type { AttemptOutcome, UpstreamObserver } from "./observer.ts";
export { type MethodClass, methodClasses } from "./methodClass.ts";
export {
  type CallOptions,
  type RpcCall,
  type RpcReply,
  type UpstreamPool,
  type UpstreamStatus,
  UpstreamUnavailableError,
  WrongChainError,
} from "./types.ts";
