import { createPublicClient, type Hex, isHex, recoverMessageAddress, type Transport } from "viem";
import {
  createSiweMessage,
  generateSiweNonce,
  parseSiweMessage,
  validateSiweMessage,
} from "viem/siwe";
import type { SignInStore } from "../../db/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { ApiError } from "../../lib/errors.ts";

/** How long a message may take to be signed and come back. */
const CHALLENGE_MS = 5 * 60_000;
/** Longest signature: that of a wallet that is not deployed yet brings its deployment. */
export const MAX_SIGNATURE_LENGTH = 32_768;
const STATEMENT =
  "Sign in to the Causeway developer console. This is no transaction and costs nothing.";

/** Sends calls to a chain; undefined for one that has no nodes here. */
export type ChainTransport = (chainId: number) => Transport | undefined;

export interface WalletSignInOptions {
  readonly store: SignInStore;
  readonly clock: Clock;
  readonly transportOf: ChainTransport;
}

/** A wallet's message, as asked for by the page. */
export interface ChallengeRequest {
  readonly address: Hex;
  readonly chainId: number;
  /** Where the page is. */
  readonly origin: URL;
}

/** Proof of a wallet by Sign-In with Ethereum (EIP-4361). */
export interface WalletSignIn {
  /** Makes the message to be signed; it can be used once. */
  challenge(request: ChallengeRequest): Promise<{ nonce: string; message: string }>;
  /** Takes a challenge back. @throws ApiError `SIGN_IN_FAILED` when there is none */
  take(nonce: string, origin: URL): Promise<Challenge>;
}

/** A message that was given out. */
export interface Challenge {
  /** Checksummed. */
  readonly address: Hex;
  /**
   * Finds out whether the wallet signed it: its key did, or, for a contract, the contract says so
   * on the message's chain (ERC-1271; ERC-6492 while it is not deployed).
   * @returns who signed, as accounts are known by: the address in lower case, with
   *   `eip155:<chain>:` in front for a contract, which elsewhere may be another's
   * @throws ApiError `SIGN_IN_FAILED`
   */
  verify(signature: string): Promise<string>;
}

/** The wallet half of signing in. */
export function createWalletSignIn({
  store,
  clock,
  transportOf,
}: WalletSignInOptions): WalletSignIn {
  return {
    async challenge({ address, chainId, origin }) {
      const nonce = generateSiweNonce();
      const now = clock.now();
      const message = createSiweMessage({
        address,
        chainId,
        domain: origin.host,
        scheme: origin.protocol.slice(0, -1),
        uri: `${origin.origin}/console`,
        version: "1",
        nonce,
        statement: STATEMENT,
        issuedAt: new Date(now),
        expirationTime: new Date(now + CHALLENGE_MS),
      });
      await store.addChallenge({ nonce, message, expiresAt: now + CHALLENGE_MS }, now);
      return { nonce, message };
    },
    async take(nonce, origin) {
      const now = clock.now();
      const stored = await store.takeChallenge(nonce, now);
      if (!stored) throw new ApiError("SIGN_IN_FAILED");
      const parsed = parseSiweMessage(stored.message);
      const { address, chainId } = parsed;
      const isValid = validateSiweMessage({
        message: parsed,
        domain: origin.host,
        nonce,
        time: new Date(now),
      });
      if (!isValid || !address || chainId === undefined) throw new ApiError("SIGN_IN_FAILED");
      return {
        address,
        async verify(signature) {
          const signed = { address, message: stored.message, signature };
          if (!isHex(signature) || signature.length > MAX_SIGNATURE_LENGTH) {
            throw new ApiError("SIGN_IN_FAILED");
          }
          if (await isSignedByKey({ ...signed, signature })) return address.toLowerCase();
          const transport = transportOf(chainId);
          if (transport && (await isSignedByContract({ ...signed, signature }, transport))) {
            return `eip155:${chainId}:${address.toLowerCase()}`;
          }
          throw new ApiError("SIGN_IN_FAILED");
        },
      };
    },
  };
}

interface Signed {
  readonly address: Hex;
  readonly message: string;
  readonly signature: Hex;
}

async function isSignedByKey({ address, message, signature }: Signed): Promise<boolean> {
  try {
    return (await recoverMessageAddress({ message, signature })) === address;
  } catch {
    return false;
  }
}

async function isSignedByContract(signed: Signed, transport: Transport): Promise<boolean> {
  return createPublicClient({ transport }).verifyMessage(signed);
}
