import { Elysia } from "elysia";
import { admissionOf, describeOperation } from "../access/index.ts";
import { jsonResponse, readJson } from "../lib/http.ts";
import { BridgeRequest, BridgeResult } from "./model.ts";
import type { BridgeService } from "./service.ts";

/** POST /api/public/bridge. */
export function bridgeRoutes(bridge: BridgeService, limits: { maxBodyBytes: number }) {
  return new Elysia({ name: "bridge" }).post(
    "/api/public/bridge",
    async ({ request }) => {
      const { environment } = admissionOf(request);
      const body = await readJson(request, BridgeRequest, {
        maxBytes: limits.maxBodyBytes,
        missing: (field) => `Missing required field: ${field}`,
      });
      return jsonResponse(await bridge.transfer(environment, body));
    },
    describeOperation("bridge", {
      tag: "Bridge",
      summary: "Move USDC between networks",
      description:
        "Moves USDC 1:1 over Circle's CCTP V2. Mainnet and testnet networks are never mixed, and " +
        "`sk_test_` keys move testnet funds only.",
      request: {
        schema: BridgeRequest,
        example: {
          fromChainId: 5042002,
          toChainId: 84532,
          amount: "10.00",
          token: "USDC",
          recipientAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        },
      },
      response: {
        schema: BridgeResult,
        example: {
          success: true,
          transactionHash: `0x${"ab".repeat(32)}`,
          status: "pending",
          estimatedTime: "1-3 minutes",
        },
      },
      errors: [
        "UNSUPPORTED_BRIDGE_TOKEN",
        "MISSING_FIELD",
        "INVALID_FIELD",
        "UNSUPPORTED_CHAIN",
        "INVALID_RECIPIENT",
        "TEST_KEY_ON_MAINNET",
        "BRIDGE_FAILED",
      ],
    }),
  );
}
