import type { ChainRegistry } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { BridgeRequest, BridgeResult } from "./model.ts";
import { planTransfer } from "./plan.ts";

/** USDC transfers over CCTP V2. */
export interface BridgeService {
  /**
   * Checks a transfer and starts it.
   * @throws ApiError of `planTransfer`, or `BRIDGE_FAILED` when it cannot be executed
   */
  transfer(environment: "test" | "live", request: BridgeRequest): Promise<BridgeResult>;
}

/** The bridge of this process. Without an operator wallet no transfer can be executed. */
export function createBridge(dependencies: { chains: ChainRegistry }): BridgeService {
  return {
    async transfer(environment, request) {
      planTransfer(dependencies.chains, environment, request);
      throw new ApiError("BRIDGE_FAILED");
    },
  };
}
