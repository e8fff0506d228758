import { LRUCache } from "lru-cache";
import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  type PublicClient,
  type StateOverride,
} from "viem";
import { ApiError } from "../lib/errors.ts";
import { erc20Abi } from "./abi.ts";
import { isUnreachable } from "./clients.ts";
import { NATIVE } from "./native.ts";

const MAX_TOKENS = 2_000;
/** Plain layouts start their mappings within the first slots. */
const PLAIN_SLOTS = 52;
/** ERC-7201 location of OpenZeppelin 5's upgradeable ERC20; allowances are one further. */
const OZ5_ERC20 = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n;
/** Distinct values no real balance has, small enough for packed 96-bit balances. */
const MARKER = 0x5ca1_ab1e_0000_0000_0000n;
/** For tokens that show the native balance with fewer decimals, such as Arc's USDC. */
const NATIVE_MARKER = 123_456_789n * 10n ** 24n;

/** How a token stores a mapping keyed by owner. `native`: it shows the account's native balance. */
type Slot = Mapping | { readonly kind: "native"; readonly scale: bigint };

interface Mapping {
  readonly kind: "mapping";
  readonly base: bigint;
  readonly keyFirst: boolean;
}

/** Where a token keeps its balances and allowances; undefined where it could not be told. */
export interface TokenSlots {
  readonly balance: Slot | undefined;
  readonly allowance: Mapping | undefined;
}

const nativeSlots: TokenSlots = { balance: { kind: "native", scale: 1n }, allowance: undefined };

/** Finds a token's storage layout; the native asset's is every account's balance. @throws ApiError `UPSTREAM_UNREACHABLE` */
export type FindTokenSlots = (
  client: Pick<PublicClient, "call">,
  chainId: number,
  token: Address,
) => Promise<TokenSlots>;

const candidates: readonly Mapping[] = [
  ...Array.from({ length: PLAIN_SLOTS }, (_, index) => BigInt(index)),
  OZ5_ERC20,
  OZ5_ERC20 + 1n,
].flatMap((base) => [
  { kind: "mapping", base, keyFirst: true } as const,
  { kind: "mapping", base, keyFirst: false } as const,
]);

/** Accounts nobody has: the hashes of fixed bytes. */
export const OWNER: Address = `0x${keccak256("0x01").slice(26)}`;
export const SPENDER: Address = `0x${keccak256("0x02").slice(26)}`;

/**
 * Probes tokens with two calls each: all candidate slots are overridden at once, each with its own
 * marker, and the value the token then reports tells the slot. What is found is kept for good.
 */
export function createSlotFinder(): FindTokenSlots {
  const known = new LRUCache<string, TokenSlots>({ max: MAX_TOKENS });
  return async (client, chainId, token) => {
    if (token === NATIVE) return nativeSlots;
    const key = `${chainId}:${token}`;
    const cached = known.get(key);
    if (cached) return cached;
    const balanceOf = encodeFunctionData({
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [OWNER],
    });
    const allowanceOf = encodeFunctionData({
      abi: erc20Abi,
      functionName: "allowance",
      args: [OWNER, SPENDER],
    });
    const [balance, allowance] = await Promise.all([
      probe(client, token, balanceOf, (slot) => balanceKey(slot, OWNER)),
      probe(client, token, allowanceOf, (slot) => allowanceKey(slot, OWNER, SPENDER)),
    ]);
    const slots = { balance, allowance: allowance?.kind === "mapping" ? allowance : undefined };
    if (balance || allowance) known.set(key, slots);
    return slots;
  };
}

/** What a wallet should seem to have in a simulation; undefined leaves it as it is. */
export interface Pretence {
  readonly token: Address;
  readonly owner: Address;
  readonly spender: Address;
  readonly balance: bigint | undefined;
  readonly allowance: bigint | undefined;
}

/** The state override that makes it seem so; undefined when the token's layout is unknown. */
export function overrideFor(slots: TokenSlots, pretence: Pretence): StateOverride | undefined {
  const { token, owner, spender, balance, allowance } = pretence;
  const stateDiff: { slot: Hex; value: Hex }[] = [];
  const overrides: StateOverride = [];
  if (balance !== undefined) {
    if (!slots.balance) return undefined;
    if (slots.balance.kind === "native") {
      overrides.push({ address: owner, balance: balance * slots.balance.scale });
    } else {
      stateDiff.push({ slot: balanceKey(slots.balance, owner), value: word(balance) });
    }
  }
  if (allowance !== undefined) {
    if (!slots.allowance) return undefined;
    stateDiff.push({
      slot: allowanceKey(slots.allowance, owner, spender),
      value: word(allowance),
    });
  }
  if (stateDiff.length > 0) overrides.push({ address: token, stateDiff });
  return overrides;
}

async function probe(
  client: Pick<PublicClient, "call">,
  token: Address,
  callData: Hex,
  keyOf: (slot: Mapping) => Hex,
): Promise<Slot | undefined> {
  const stateDiff = candidates.map((candidate, index) => ({
    slot: keyOf(candidate),
    value: word(MARKER + BigInt(index)),
  }));
  try {
    const { data = "0x0" } = await client.call({
      to: token,
      data: callData,
      stateOverride: [
        { address: token, stateDiff },
        { address: OWNER, balance: NATIVE_MARKER },
      ],
    });
    return recognise(BigInt(data));
  } catch (error) {
    if (isUnreachable(error)) throw new ApiError("UPSTREAM_UNREACHABLE");
    return undefined; // The node knows no state overrides, or this is no token.
  }
}

function recognise(reported: bigint): Slot | undefined {
  const index = reported - MARKER;
  if (index >= 0n && index < BigInt(candidates.length)) return candidates[Number(index)];
  for (let scale = 1n; scale <= 10n ** 18n; scale *= 10n) {
    if (reported * scale === NATIVE_MARKER) return { kind: "native", scale };
  }
  return undefined;
}

function balanceKey(slot: Mapping, owner: Address): Hex {
  return mappingKey(slot, pad(owner), word(slot.base));
}

function allowanceKey(slot: Mapping, owner: Address, spender: Address): Hex {
  return mappingKey(slot, pad(spender), mappingKey(slot, pad(owner), word(slot.base)));
}

/** Solidity hashes key then base slot, Vyper base slot then key. */
function mappingKey({ keyFirst }: Mapping, key: Hex, base: Hex): Hex {
  return keccak256(concat(keyFirst ? [key, base] : [base, key]));
}

function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 });
}
