import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Address, getAddress, type Hex, isHex, zeroAddress } from "viem";
import type { Chain } from "../chains/index.ts";

/** A DEX deployment as the executor knows it; a hop names it by its index in the chain's list. */
export interface ExecutorVenue {
  readonly factory: Address;
  readonly initCodeHash: Hex;
  readonly kind: 2 | 3;
  /** v2: the pairs' fee; 0 for v3, where the fee is part of a hop. */
  readonly feeBps: number;
}

/** One chain's entry of the constructor argument. */
export interface ExecutorChain {
  readonly chainId: bigint;
  /** Zero where the chain has none. */
  readonly wrappedNative: Address;
  readonly venues: readonly ExecutorVenue[];
}

/** Fee of Uniswap's v2 pairs, for a venue of the registry that names none. */
const DEFAULT_V2_FEE_BPS = 30;

const AddressText = Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" });

/** The table as a JSON file: an array of chains, amounts as numbers. */
const TableSchema = Type.Array(
  Type.Object(
    {
      chainId: Type.Integer({ minimum: 1 }),
      wrappedNative: Type.Optional(AddressText),
      venues: Type.Array(
        Type.Object(
          {
            factory: AddressText,
            initCodeHash: Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" }),
            kind: Type.Union([Type.Literal(2), Type.Literal(3)]),
            feeBps: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
          },
          { additionalProperties: false },
        ),
        { minItems: 1, maxItems: 6 },
      ),
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
);

/**
 * The table for these networks: every EVM network that has venues, its venues in the registry's
 * order, enabled or not, so that switching one off moves neither index nor address.
 */
export function executorTable(chains: readonly Chain[]): ExecutorChain[] {
  return chains
    .filter(({ kind, venues }) => kind === "evm" && venues.length > 0)
    .sort((a, b) => a.id - b.id)
    .map(({ id, wrappedNative, venues }) => ({
      chainId: BigInt(id),
      wrappedNative: wrappedNative ? getAddress(wrappedNative) : zeroAddress,
      venues: venues.map(({ type, factory, initCodeHash, feeBps }) => ({
        factory: getAddress(factory),
        initCodeHash: toHash(initCodeHash),
        kind: type === "v2" ? 2 : 3,
        feeBps: type === "v2" ? (feeBps ?? DEFAULT_V2_FEE_BPS) : 0,
      })),
    }));
}

/**
 * Reads a table from JSON text: `[{ chainId, wrappedNative?, venues: [{ factory, initCodeHash,
 * kind, feeBps? }] }]`.
 * @throws Error naming the member that is wrong
 */
export function parseTable(text: string): ExecutorChain[] {
  const data: unknown = JSON.parse(text);
  if (!Value.Check(TableSchema, data)) {
    const first = Value.Errors(TableSchema, data).First();
    throw new Error(`table ${first?.path}: ${first?.message}`);
  }
  return data.map(toChain);
}

function toChain(chain: Static<typeof TableSchema>[number]): ExecutorChain {
  return {
    chainId: BigInt(chain.chainId),
    wrappedNative: chain.wrappedNative ? getAddress(chain.wrappedNative) : zeroAddress,
    venues: chain.venues.map(({ factory, initCodeHash, kind, feeBps }) => ({
      factory: getAddress(factory),
      initCodeHash: toHash(initCodeHash),
      kind,
      feeBps: feeBps ?? (kind === 2 ? DEFAULT_V2_FEE_BPS : 0),
    })),
  };
}

function toHash(text: string): Hex {
  if (!isHex(text)) throw new Error(`${text} is not a hash`);
  return text;
}
