import {
  type Address,
  encodeAbiParameters,
  type Hex,
  isHex,
  keccak256,
  parseAbiParameters,
  recoverTypedDataAddress,
  size,
} from "viem";
import { sameAddress } from "../chains/index.ts";
import { ApiError } from "../lib/errors.ts";
import type { SenderAuthorization } from "./model.ts";
import type { Transfer } from "./network.ts";
import type { TransferPlan } from "./plan.ts";
import { addressWord, cctpOf } from "./words.ts";

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
function authorizationNonce(plan: TransferPlan, salt: Hex): Hex {
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

/** EIP-712 types of `receiveWithAuthorization` (EIP-3009). */
const TYPES = {
  ReceiveWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** What a sender signs, as viem's `signTypedData` takes it. */
export function authorizationTypedData(
  plan: TransferPlan,
  authorization: Omit<SenderAuthorization, "signature">,
  operator: Address,
  usdcName: string,
) {
  return {
    domain: {
      name: usdcName,
      version: "2",
      chainId: plan.from.id,
      verifyingContract: cctpOf(plan.from).usdc as Address,
    },
    types: TYPES,
    primaryType: "ReceiveWithAuthorization" as const,
    message: {
      from: plan.sender as Address,
      to: operator,
      value: plan.amountAtomic,
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorizationNonce(plan, authorization.salt as Hex),
    },
  };
}

/** Names USDC goes by in its own EIP-712 domain. */
const USDC_NAMES = ["USD Coin", "USDC"];

/**
 * Checks a sender's authorization and gives what has to be stored of it.
 * @param now - ms since the epoch
 * @throws ApiError `INVALID_AUTHORIZATION`
 */
export async function checkAuthorization(
  plan: TransferPlan,
  authorization: SenderAuthorization,
  operator: Address,
  now: number,
): Promise<Readonly<Record<string, unknown>>> {
  const { validAfter, validBefore, salt, signature } = authorization;
  if (plan.from.kind !== "evm") refuse("only EVM networks have EIP-3009");
  if (plan.sender === undefined) refuse("senderAddress is missing");
  if (!isHex(salt) || size(salt) !== 32) refuse("salt must be 32 bytes");
  if (!isHex(signature) || size(signature) !== 65) refuse("signature must be 65 bytes");
  const seconds = Math.floor(now / 1_000);
  if (validAfter >= seconds) refuse("it is not valid yet");
  if (validBefore < seconds + MIN_LIFE_SECONDS) refuse("it ends in less than a minute");
  for (const name of USDC_NAMES) {
    const typed = authorizationTypedData(plan, authorization, operator, name);
    const signer = await recoverTypedDataAddress({ ...typed, signature: signature as Hex }).catch(
      () => undefined,
    );
    if (signer && plan.sender && sameAddress(signer, plan.sender)) {
      return { validAfter, validBefore, nonce: typed.message.nonce, signature };
    }
  }
  return refuse(`the signature is not senderAddress's over this transfer to ${operator}`);
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
