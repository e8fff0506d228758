export { isAdminToken, settleAdminToken } from "./adminToken.ts";
export { type Access, createAccess, openKeyService } from "./access.ts";
export {
  type Admission,
  admissionOf,
  admitItems,
  type RequestObserver,
  setChargedChain,
} from "./admission.ts";
export { describeOperation, type OperationDoc } from "./describe.ts";
export { errorHandler } from "./errorHandler.ts";
export { gate } from "./gate.ts";
export type { KeyEnvironment } from "./key.ts";
export {
  type ApiKey,
  type KeyDetails,
  KeyError,
  type KeyService,
  MAX_GRACE_MS,
  type NewKey,
  UNLIMITED_WINDOW,
} from "./keys.ts";
export { type OperationId, operations, type Scope, scopes } from "./operations.ts";
export { accessRoutes } from "./routes.ts";
export type { Sealer } from "./sealer.ts";
export { type Hold, openSession, type Session, upgradeHeaders } from "./session.ts";
