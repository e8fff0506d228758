export { monthOf } from "./allowance.ts";
export { type Access, createAccess, openKeyService } from "./access.ts";
export {
  type Admission,
  admissionOf,
  type Admitted,
  admitted,
  admitItems,
  isAdmitted,
  isOfSameOwner,
  Passage,
  type RequestObserver,
  setChargedChain,
} from "./admission.ts";
export { describeOperation, type OperationDoc } from "./describe.ts";
export type { RequestHead } from "./head.ts";
export { keysCommand } from "./cli/command.ts";
export { conclude, settle } from "./answer.ts";
export type { ChargeTarget } from "./meter.ts";
export { type Check, createChecks } from "./checks.ts";
export { createErrorAnswers, errorHandler } from "./errorHandler.ts";
export { gate } from "./gate.ts";
export type { KeyEnvironment } from "./key.ts";
export {
  type ApiKey,
  type KeyDetails,
  type KeyOwner,
  type KeyService,
  MAX_GRACE_MS,
  type NewKey,
  type ShownKey,
} from "./keys.ts";
export { KeyError, UNLIMITED_WINDOW } from "./keyRules.ts";
export type { KeyChanges } from "../db/index.ts";
export { clientAddress, isForwardedHttps, originOf, parseBlocks } from "./network.ts";
export { shownKey } from "./presentedKey.ts";
export { type OperationId, operations, type Scope, scopes } from "./operations.ts";
export { accessRoutes } from "./routes.ts";
export type { Sealer } from "./sealer.ts";
export type { Signer } from "./signer.ts";
export { type Hold, openSession, type Session, upgradeHeaders } from "./session.ts";
export { createRedisWindow } from "./redisWindow.ts";
export type { RateWindow } from "./window.ts";
