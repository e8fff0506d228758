import type { ChainRegistry } from "../chains/index.ts";
import { formatDecimalAmount } from "../lib/amounts.ts";
import { ApiError } from "../lib/errors.ts";
import { evmBalance } from "./evm.ts";
import type { BalanceRequest, BalanceResult } from "./model.ts";
import { invalidField, type NodeAccess, NodeRefusal, openNode, unreachable } from "./node.ts";
import { solanaBalance } from "./solana.ts";

/** Wallet balances read from a node the caller names. */
export interface BalanceService {
  /**
   * The balance of a wallet, as a decimal string with all digits of the asset, and the id of the
   * network it was read from.
   * @throws ApiError `MISSING_FIELD`, `INVALID_FIELD`, `UNSUPPORTED_CHAIN`, `RPC_URL_REFUSED`,
   *   `RPC_URL_UNREACHABLE`, `RPC_URL_WRONG_NETWORK`
   */
  balance(request: BalanceRequest): Promise<BalanceResult & { readonly chainId: number }>;
}

/** What the service is made of. */
export interface BalanceDependencies {
  readonly registry: ChainRegistry;
  readonly pool: NodeAccess;
}

/** Makes the balance service; it holds no state. */
export function createBalanceService({ registry, pool }: BalanceDependencies): BalanceService {
  return {
    async balance(request) {
      requireText(request);
      const chain = registry.byName(request.chainId);
      if (!chain) {
        throw new ApiError("UNSUPPORTED_CHAIN", `Unsupported chainId: ${request.chainId}`);
      }
      const usdc = chain.tokens.find(({ symbol }) => symbol === "USDC")?.address;
      const tokenAddress =
        request.balanceType === "native" ? undefined : request.tokenAddress || usdc;
      if (request.balanceType !== "native" && tokenAddress === undefined) {
        throw invalidField("tokenAddress", `required on ${chain.name}, which has no known USDC`);
      }
      const node = openNode(pool, chain, request.rpcUrl);
      const read = chain.kind === "evm" ? evmBalance : solanaBalance;
      try {
        const query = { address: request.address, tokenAddress };
        const { amountAtomic, decimals } = await read(chain, query, node);
        return { balance: formatDecimalAmount(amountAtomic, decimals), chainId: chain.id };
      } catch (error) {
        throw error instanceof NodeRefusal ? unreachable() : error;
      }
    },
  };
}

/** An empty required field is as good as a missing one. */
function requireText(request: BalanceRequest): void {
  for (const field of ["address", "chainId", "rpcUrl"] as const) {
    if (request[field] === "") throw new ApiError("MISSING_FIELD", missingMessage(field));
  }
}

/** The contract's words for a missing field of this endpoint. */
export function missingMessage(field: string): string {
  return `Missing required field: ${field}`;
}
