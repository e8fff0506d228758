import { type Address, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from "viem";
import { ApiError } from "../lib/errors.ts";
import type { SenderAuthorization } from "./model.ts";
import type { Transfer } from "./network.ts";
import type { TransferPlan } from "./plan.ts";
import { addressWord } from "./words.ts";

/** A sender's EIP-3009 authorization as it goes on chain. */
export interface SignedAuthorization {
  readonly sender: Address;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
  readonly signature: Hex;
}

/** An authorization must live this long, so that it cannot end while it is being used. */
const MIN_LIFE_SECONDS = 60;

const BINDING = parseAbiParameters(
  "string purpose, uint256 fromChainId, uint256 toChainId, uint256 amount, bytes32 recipient, bool useForwarder, bytes32 salt",
);

/**
 * The EIP-3009 nonce that binds an authorization to one transfer: who signs it has agreed to this
 * route, amount and recipient and no other, and the token takes it once.
 */
export function authorizationNonce(plan: TransferPlan, salt: Hex): Hex {
  const recipient = addressWord(plan.to.kind, plan.recipient);
  return keccak256(
    encodeAbiParameters(BINDING, [
      "causeway-bridge-v1",
      BigInt(plan.from.id),
      BigInt(plan.to.id),
      plan.amountAtomic,
      recipient,
      plan.useForwarder,
      salt,
    ]),
  );
}

/**
 * Checks a sender's authorization and gives what has to be stored of it. Whether the signature is
 * the sender's is the token's to say, which also asks wallets that are contracts (ERC-1271).
 * @param now - ms since the epoch
 * @param isAccepted - whether USDC would take it now
 * @throws ApiError `INVALID_AUTHORIZATION`
 */
export async function checkAuthorization(
  plan: TransferPlan,
  authorization: SenderAuthorization,
  now: number,
  isAccepted: (signed: SignedAuthorization, amountAtomic: bigint) => Promise<boolean>,
): Promise<Readonly<Record<string, unknown>>> {
  const { validAfter, validBefore, salt, signature } = authorization;
  if (plan.from.kind !== "evm") refuse("only EVM networks have EIP-3009");
  if (plan.sender === undefined) return refuse("senderAddress is missing");
  const seconds = Math.floor(now / 1_000);
  if (validAfter >= seconds) refuse("it is not valid yet");
  if (validBefore < seconds + MIN_LIFE_SECONDS) refuse("it ends in less than a minute");
  const nonce = authorizationNonce(plan, salt as Hex);
  const signed: SignedAuthorization = {
    sender: plan.sender as Address,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
    signature: signature as Hex,
  };
  if (!(await isAccepted(signed, plan.amountAtomic))) {
    refuse("USDC does not accept it as senderAddress's for this very transfer");
  }
  return { validAfter, validBefore, nonce, signature };
}

function refuse(why: string): never {
  throw new ApiError("INVALID_AUTHORIZATION", `Invalid authorization: ${why}`);
}

/** What was stored by `checkAuthorization`. */
export function signedAuthorization({ sender, authorization }: Transfer): SignedAuthorization {
  if (!authorization || sender === null) throw new Error("the transfer has no authorization");
  const { validAfter, validBefore, nonce, signature } = authorization;
  return {
    sender: sender as Address,
    validAfter: BigInt(Number(validAfter)),
    validBefore: BigInt(Number(validBefore)),
    nonce: nonce as Hex,
    signature: signature as Hex,
  };
}
