export { applyChanges, type LineupChange } from "./changes.ts";
export { createUpstreamPool, type UpstreamPoolDependencies } from "./pool.ts";
export { createUrlGuard, type UrlGuard, type UrlGuardOptions } from "./guard.ts";
export type { AttemptOutcome, UpstreamObserver } from "./observer.ts";
export type { AnswerMemory, Lease } from "./memory.ts";
export { type MethodClass, methodClasses } from "./methodClass.ts";
export {
  type CallOptions,
  type CallUnderWay,
  type ReplySource,
  type ReplyTarget,
  type RpcCall,
  type RpcReply,
  type UpstreamPool,
  type UpstreamStatus,
  type UpstreamRefusal,
  UpstreamRefusedError,
  UpstreamUnavailableError,
  WrongChainError,
} from "./types.ts";
export { upstreamId } from "./upstreamId.ts";
export {
  type Block,
  type BlockEvent,
  type BlockFollower,
  type BlockListener,
  type ChainFeeds,
  createFeeds,
  type Feeds,
  type FeedsOptions,
  type LogFeed,
  type LogFilter,
  LogFilterError,
  parseLogFilter,
} from "./blocks/index.ts";
