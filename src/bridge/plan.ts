import { getAddress, isAddress, zeroAddress } from "viem";
import { type Chain, type ChainRegistry, findToken, sameAddress } from "../chains/index.ts";
import { parseDecimalAmount } from "../lib/amounts.ts";
import { isSolanaAddress } from "../lib/base58.ts";
import { ApiError } from "../lib/errors.ts";
import type { BridgeRequest } from "./model.ts";
import { canBeWallet, programs } from "./solana/addresses.ts";

/** USDC has 6 decimals on every network of CCTP. */
const USDC_DECIMALS = 6;

/** A transfer that passed every check of the request, before any money is looked at. */
export interface TransferPlan {
  readonly from: Chain;
  readonly to: Chain;
  readonly amountAtomic: bigint;
  readonly recipient: string;
  readonly sender: string | undefined;
  readonly useForwarder: boolean;
}

/**
 * Checks a bridge request against the registry and the key that sent it.
 * @param environment - environment of the API key; test keys never move mainnet funds
 * @throws ApiError `UNSUPPORTED_CHAIN`, `INVALID_FIELD`, `INVALID_RECIPIENT`, `TEST_KEY_ON_MAINNET`
 */
export function planTransfer(
  chains: ChainRegistry,
  environment: "test" | "live",
  request: BridgeRequest,
): TransferPlan {
  const from = cctpChain(chains, request.fromChainId, "fromChainId");
  const to = cctpChain(chains, request.toChainId, "toChainId");
  if (from.id === to.id) {
    throw new ApiError("INVALID_FIELD", "Invalid field: toChainId (must differ from fromChainId)");
  }
  if (from.environment !== to.environment) {
    throw new ApiError(
      "UNSUPPORTED_CHAIN",
      "Unsupported chainId: mainnet and testnet networks cannot be bridged to each other",
    );
  }
  const amountAtomic = parseDecimalAmount(request.amount, USDC_DECIMALS);
  if (amountAtomic === undefined) {
    throw new ApiError(
      "INVALID_FIELD",
      "Invalid field: amount (decimal string above 0 with at most 6 fractional digits)",
    );
  }
  const recipient = checkRecipient(to, request.recipientAddress);
  const sender = checkSender(from, request.senderAddress);
  if (environment === "test" && from.environment === "mainnet") {
    throw new ApiError("TEST_KEY_ON_MAINNET");
  }
  return {
    from,
    to,
    amountAtomic,
    recipient,
    sender,
    useForwarder: request.useForwarder ?? true,
  };
}

function cctpChain(chains: ChainRegistry, id: number, field: string): Chain {
  const chain = chains.byId(id);
  if (chain?.cctp && findToken(chain, "USDC")) return chain;
  throw new ApiError("UNSUPPORTED_CHAIN", `Unsupported chainId for CCTP bridge: ${field} ${id}`);
}

/**
 * Precompiled contracts, and Arc's: its precompiles begin at 0x1800…, its system contracts at
 * 0x3600…
 */
function isSystemContract(address: string): boolean {
  return BigInt(address) <= 0xffffn || /^0x(?:18|36)0{34}[0-9a-f]{4}$/i.test(address);
}

/** Money sent to any of these on an EVM network could not be moved again. */
function isOwnContract(chain: Chain, address: string): boolean {
  const contracts = [
    chain.executor,
    chain.multicall3,
    chain.wrappedNative,
    chain.cctp?.tokenMessenger,
    chain.cctp?.messageTransmitter,
    ...chain.tokens.map((token) => token.address),
    ...chain.venues.flatMap((venue) => [venue.factory, venue.router, venue.quoter]),
  ];
  return contracts.some((contract) => contract !== undefined && sameAddress(contract, address));
}

/** Programs and mints cannot hold USDC. */
function isSolanaContract({ tokens, cctp }: Chain, address: string): boolean {
  const known = [
    ...Object.values<string>(programs),
    ...tokens.map((token) => token.address),
    cctp?.tokenMessenger,
    cctp?.messageTransmitter,
  ];
  return known.includes(address);
}

function checkRecipient(chain: Chain, address: string): string {
  if (chain.kind === "solana") {
    // No key exists for a point off the curve: such an address is a program's, not a wallet.
    if (isSolanaAddress(address) && canBeWallet(address) && !isSolanaContract(chain, address)) {
      return address;
    }
    throw new ApiError("INVALID_RECIPIENT", `Invalid recipientAddress: not a ${chain.name} wallet`);
  }
  if (!isAddress(address, { strict: false }) || sameAddress(address, zeroAddress)) {
    throw new ApiError("INVALID_RECIPIENT", `Invalid recipientAddress: not a ${chain.name} wallet`);
  }
  if (isSystemContract(address) || isOwnContract(chain, address)) {
    throw new ApiError("INVALID_RECIPIENT", "Invalid recipientAddress: a contract, not a wallet");
  }
  return getAddress(address);
}

function checkSender(chain: Chain, address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const valid =
    chain.kind === "solana" ? isSolanaAddress(address) : isAddress(address, { strict: false });
  if (valid) return chain.kind === "solana" ? address : getAddress(address);
  throw new ApiError(
    "INVALID_FIELD",
    `Invalid field: senderAddress (wallet address on ${chain.name})`,
  );
}
