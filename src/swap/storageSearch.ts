import { type Address, type Hex, numberToHex, type PublicClient } from "viem";
import { ApiError } from "../lib/errors.ts";
import { isUnreachable } from "./clients.ts";

/** Most storage words of one account that are tried. */
const MAX_WORDS = 12;
/**
 * How far to the left a number may stand in its word: beside flags and times, or as shares that are
 * worth a fraction of a unit each.
 */
const SHIFTS = [0, 1, 8, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208].map(BigInt);
const WORD_LIMIT = 1n << 256n;

/** A storage word and what to write there. */
export interface StorageWord {
  readonly address: Address;
  readonly slot: Hex;
  readonly value: Hex;
}

type Client = Pick<PublicClient, "call" | "createAccessList" | "getStorageAt">;

/** A view of a token that answers with a number, for one account and for another. */
export interface AccountView {
  readonly token: Address;
  readonly data: Hex;
  /** The same about an account that has nothing to do with it. */
  readonly otherData: Hex;
}

/**
 * Finds the storage word behind a number that a token shows of one account, and what to write there
 * for the number to be large enough. Works for any layout, behind proxies and in other contracts
 * too: a node tells which words the view reads (`eth_createAccessList`), those that it reads for
 * other accounts as well are left alone, and the rest are overridden one at a time, with the number
 * further and further to the left, until the view shows enough.
 *
 * @param wanted - the least the view is to show, above what it shows now
 * @returns undefined where no single word decides, or the node cannot tell
 * @throws ApiError `UPSTREAM_UNREACHABLE`
 */
export async function searchWord(
  client: Client,
  view: AccountView,
  wanted: bigint,
): Promise<StorageWord | undefined> {
  try {
    for (const { address, slot } of await wordsOfAccount(client, view)) {
      const present = BigInt((await client.getStorageAt({ address, slot })) ?? "0x0");
      const tries = SHIFTS.map((shift) => present + (wanted << shift)).filter(
        (value) => value < WORD_LIMIT,
      );
      const shown = await Promise.all(
        tries.map((value) => read(client, view, { address, slot, value: word(value) })),
      );
      const fitting = shown.findIndex((number) => number !== undefined && number >= wanted);
      if (fitting >= 0) return { address, slot, value: word(tries[fitting] ?? 0n) };
    }
  } catch (error) {
    if (isUnreachable(error)) throw new ApiError("UPSTREAM_UNREACHABLE");
  }
  return undefined;
}

/** The words that the view reads for this account alone. */
async function wordsOfAccount(
  client: Client,
  { token, data, otherData }: AccountView,
): Promise<{ address: Address; slot: Hex }[]> {
  const [own, others] = await Promise.all(
    [data, otherData].map((call) => client.createAccessList({ to: token, data: call })),
  );
  const shared = new Set(others?.accessList.flatMap(keysOf));
  return (own?.accessList ?? [])
    .flatMap(({ address, storageKeys }) => storageKeys.map((slot) => ({ address, slot })))
    .filter(({ address, slot }) => !shared.has(address.toLowerCase() + slot))
    .slice(0, MAX_WORDS);
}

function keysOf({ address, storageKeys }: { address: Address; storageKeys: readonly Hex[] }) {
  return storageKeys.map((slot) => address.toLowerCase() + slot);
}

/** What the view shows with a word overridden; undefined when it reverts. */
async function read(
  client: Client,
  { token, data }: AccountView,
  { address, slot, value }: StorageWord,
): Promise<bigint | undefined> {
  try {
    const stateOverride = [{ address, stateDiff: [{ slot, value }] }];
    return BigInt((await client.call({ to: token, data, stateOverride })).data ?? "0x0");
  } catch (error) {
    if (isUnreachable(error)) throw error;
    return undefined;
  }
}

function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 });
}
