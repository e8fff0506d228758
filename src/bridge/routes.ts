import { Elysia } from "elysia";
import {
  admissionOf,
  type ApiKey,
  describeOperation,
  isOfSameOwner,
  setChargedChain,
} from "../access/index.ts";
import { dataResponse, jsonResponse, readJson } from "../lib/http.ts";
import { MAX_IDEMPOTENCY_KEY_LENGTH, readIdempotencyKey } from "./idempotency.ts";
import { BridgeRequest, BridgeResult, BridgeStatusAnswer } from "./model.ts";
import type { BridgeCaller, TransferService } from "./service.ts";

/** POST /api/public/bridge and GET /api/public/bridge/{transactionHash}. */
export function bridgeRoutes(bridge: TransferService, limits: { maxBodyBytes: number }) {
  return new Elysia({ name: "bridge" }).use(startRoute(bridge, limits)).use(statusRoute(bridge));
}

function callerOf(key: ApiKey): BridgeCaller {
  return {
    keyId: key.id,
    environment: key.environment,
    limits: {
      perTransferAtomic: key.bridgePerTransferAtomic,
      perDayAtomic: key.bridgePerDayAtomic,
    },
  };
}

function startRoute(bridge: TransferService, limits: { maxBodyBytes: number }) {
  return new Elysia({ name: "bridge-start" }).post(
    "/api/public/bridge",
    async ({ request }) => {
      const { key } = admissionOf(request);
      const body = await readJson(request, BridgeRequest, {
        maxBytes: limits.maxBodyBytes,
        missing: (field) => `Missing required field: ${field}`,
      });
      const idempotencyKey = readIdempotencyKey(request.headers.get("idempotency-key"));
      setChargedChain(request, body.fromChainId);
      return jsonResponse(await bridge.transfer(callerOf(key), body, idempotencyKey));
    },
    describeOperation("bridge", {
      tag: "Bridge",
      summary: "Move USDC between networks",
      description:
        "Moves USDC 1:1 over Circle's CCTP V2. Mainnet and testnet networks are never mixed, and " +
        "`sk_test_` keys move testnet funds only. The recipient is minted exactly the amount; fees " +
        "are burned on top. Answers once the burn is sent; `GET /api/public/bridge/{transactionHash}` " +
        "follows it. With an `Idempotency-Key` header (1 to 255 characters) a repeated request with " +
        "the same body gets the same answer, with another body 409.",
      optional: {
        "Idempotency-Key": {
          in: "header",
          description: "1 to 255 characters; the same key and body stand for the same transfer",
          schema: { minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_LENGTH },
        },
      },
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
          estimatedTime: "1-5 minutes",
        },
      },
      errors: [
        "UNSUPPORTED_BRIDGE_TOKEN",
        "MISSING_FIELD",
        "INVALID_FIELD",
        "UNSUPPORTED_CHAIN",
        "INVALID_RECIPIENT",
        "INVALID_AUTHORIZATION",
        "TEST_KEY_ON_MAINNET",
        "BRIDGE_LIMIT_EXCEEDED",
        "BRIDGE_FEE_TOO_HIGH",
        "IDEMPOTENCY_CONFLICT",
        "BRIDGE_DISABLED",
        "BRIDGE_FAILED",
      ],
    }),
  );
}

const exampleHash = `0x${"ab".repeat(32)}`;

function statusRoute(bridge: TransferService) {
  return new Elysia({ name: "bridge-status" }).get(
    "/api/public/bridge/:transactionHash",
    async ({ request, params }) => {
      const maySee = (keyId: string) => isOfSameOwner(request, keyId);
      return dataResponse(await bridge.status(params.transactionHash, maySee));
    },
    describeOperation("bridge-status", {
      tag: "Bridge",
      summary: "Follow a transfer",
      description:
        "The state of a transfer by any of its transaction hashes. `pending` until the burn is " +
        "attested, `attested` until it is minted, then `completed`; `failed` only before a burn " +
        "existed. `message` and `attestation` allow anyone they are given to to mint. Transfers are " +
        "shown to keys of the same owner as the key that started them, and are 404 to all others.",
      parameters: {
        transactionHash: { description: "hash the bridge answered with", example: exampleHash },
      },
      response: {
        schema: BridgeStatusAnswer,
        example: {
          success: true,
          data: {
            transactionHash: exampleHash,
            status: "completed",
            fromChainId: 5042002,
            toChainId: 84532,
            amount: "10.000000",
            fee: "0.209052",
            recipientAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            senderAddress: null,
            useForwarder: true,
            destinationTransactionHash: `0x${"cd".repeat(32)}`,
            message: "0x00000001",
            attestation: "0x1234",
            delayReason: null,
            estimatedTime: "1-5 minutes",
            createdAt: "2026-11-20T12:00:00.000Z",
            updatedAt: "2026-11-20T12:01:12.000Z",
          },
        },
      },
      errors: ["TRANSFER_NOT_FOUND"],
    }),
  );
}
