import { Elysia } from "elysia";
import { describeOperation, operations, setChargedChain } from "../access/index.ts";
import { jsonResponse, readJson } from "../lib/http.ts";
import { BalanceRequestSchema, BalanceResultSchema } from "./model.ts";
import { type BalanceService, missingMessage } from "./service.ts";

/**
 * POST /api/public/wallet/balance.
 * @param options - largest request body accepted, and the node of the documents' example
 */
export function balanceRoutes(
  service: BalanceService,
  options: { maxBodyBytes: number; exampleRpcUrl: string },
) {
  const body = { maxBytes: options.maxBodyBytes, missing: missingMessage };
  return new Elysia({ name: "balance" }).post(
    operations.balance.path,
    async ({ request }) => {
      const asked = await readJson(request, BalanceRequestSchema, body);
      const { balance, chainId } = await service.balance(asked);
      setChargedChain(request, chainId);
      return jsonResponse({ balance });
    },
    describeOperation("balance", {
      summary: "Balance of a wallet, token or native",
      description:
        "Reads the balance from the node at `rpcUrl`, which must serve the network named by " +
        "`chainId`. The URL must be https on a public address, unless the operator allowed its " +
        "origin. Without `tokenAddress`, `token` means the network's USDC.",
      tag: "Market data",
      request: {
        schema: BalanceRequestSchema,
        example: {
          address: "0x52908400098527886E0F7030069857D2E4169EE7",
          chainId: "Arc_Testnet",
          rpcUrl: options.exampleRpcUrl,
          balanceType: "token",
        },
      },
      response: { schema: BalanceResultSchema, example: { balance: "1.500000" } },
      errors: [
        "MISSING_FIELD",
        "INVALID_FIELD",
        "UNSUPPORTED_CHAIN",
        "RPC_URL_REFUSED",
        "RPC_URL_UNREACHABLE",
        "RPC_URL_WRONG_NETWORK",
      ],
    }),
  );
}
