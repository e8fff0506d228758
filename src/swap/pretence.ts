import {
  type Address,
  encodeFunctionData,
  type Hex,
  type PublicClient,
  type StateOverride,
} from "viem";
import { erc20Abi } from "./abi.ts";
import { type AccountView, searchWord } from "./storageSearch.ts";
import { OWNER, overrideFor, type Pretence, SPENDER, type TokenSlots } from "./tokenSlots.ts";

/** State overrides that make a wallet seem to have what it lacks; undefined: there is no way. */
export interface Pretended {
  readonly balance: StateOverride | undefined;
  readonly allowance: StateOverride | undefined;
  /** Whether they were found by search: what else their words mean is not known. */
  readonly isSearched: boolean;
}

const nothing: Pretended = { balance: [], allowance: [], isSearched: false };

/**
 * Makes a wallet seem to have what it lacks: by the token's layout where that is one of the known
 * ones, else by the storage words that reading its balance and its allowance touches.
 * @throws ApiError `UPSTREAM_UNREACHABLE`
 */
export async function pretend(
  client: PublicClient,
  findSlots: () => Promise<TokenSlots>,
  wish: Pretence,
): Promise<Pretended> {
  if (wish.balance === undefined && wish.allowance === undefined) return nothing;
  const slots = await findSlots();
  const byLayout = [
    overrideFor(slots, { ...wish, allowance: undefined }),
    overrideFor(slots, { ...wish, balance: undefined }),
  ];
  const [balance, allowance] = await Promise.all([
    byLayout[0] ?? bySearch(client, balanceView(wish), wish.balance),
    byLayout[1] ?? bySearch(client, allowanceView(wish), wish.allowance),
  ]);
  return { balance, allowance, isSearched: byLayout.includes(undefined) };
}

async function bySearch(
  client: PublicClient,
  view: AccountView,
  wanted: bigint | undefined,
): Promise<StateOverride | undefined> {
  const found = wanted === undefined ? undefined : await searchWord(client, view, wanted);
  return (
    found && [{ address: found.address, stateDiff: [{ slot: found.slot, value: found.value }] }]
  );
}

function balanceView({ token, owner }: Pretence): AccountView {
  return { token, data: balanceOf(owner), otherData: balanceOf(OWNER) };
}

function allowanceView({ token, owner, spender }: Pretence): AccountView {
  return { token, data: allowanceOf(owner, spender), otherData: allowanceOf(OWNER, SPENDER) };
}

function balanceOf(account: Address): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [account] });
}

function allowanceOf(owner: Address, spender: Address): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: "allowance", args: [owner, spender] });
}

/** Overrides together, with one entry per account: nodes take no second one. */
export function merged(overrides: StateOverride): StateOverride {
  const byAccount = new Map<string, StateOverride[number]>();
  for (const override of overrides) {
    const key = override.address.toLowerCase();
    const before = byAccount.get(key)?.stateDiff ?? [];
    const stateDiff = [...before, ...(override.stateDiff ?? [])];
    byAccount.set(key, stateDiff.length > 0 ? { address: override.address, stateDiff } : override);
  }
  return [...byAccount.values()];
}
