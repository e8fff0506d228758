import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  type ReadonlyUint8Array,
} from "@solana/kit";
import type { CompiledMessage } from "./wire.ts";

/** Addresses a transaction takes from lookup tables, in the order they follow its own keys. */
export interface LoadedAddresses {
  readonly writable: readonly Address[];
  readonly readonly: readonly Address[];
}

/** Bytes before the addresses (solana-address-lookup-table-interface `state`). */
const HEADER_BYTES = 56;
const ADDRESS_BYTES = 32;
const INITIALIZED = 1;
/** Slot of a table that was never deactivated. */
const NEVER = 0xffff_ffff_ffff_ffffn;

/** Writes an active table without authority, which nobody can change. */
export function encodeLookupTable(addresses: readonly Address[]): Uint8Array {
  const data = new Uint8Array(HEADER_BYTES + ADDRESS_BYTES * addresses.length);
  const view = new DataView(data.buffer);
  view.setUint32(0, INITIALIZED, true);
  view.setBigUint64(4, NEVER, true);
  for (const [index, address] of addresses.entries()) {
    data.set(getAddressEncoder().encode(address), HEADER_BYTES + ADDRESS_BYTES * index);
  }
  return data;
}

/** The addresses a table holds. */
export function decodeLookupTable(data: ReadonlyUint8Array): Address[] {
  const bytes = Uint8Array.from(data).subarray(HEADER_BYTES);
  const count = Math.floor(bytes.length / ADDRESS_BYTES);
  return Array.from({ length: count }, (_, index) =>
    getAddressDecoder().decode(bytes.subarray(ADDRESS_BYTES * index, ADDRESS_BYTES * (index + 1))),
  );
}

/** The tables a message names, by their address; one that does not exist is left out. */
export function tablesOf(
  message: CompiledMessage,
  read: (table: Address) => ReadonlyUint8Array | undefined,
): Record<Address, Address[]> {
  const lookups = "addressTableLookups" in message ? (message.addressTableLookups ?? []) : [];
  const found = lookups.flatMap(({ lookupTableAddress }) => {
    const data = read(lookupTableAddress);
    return data ? [[lookupTableAddress, decodeLookupTable(data)] as const] : [];
  });
  return Object.fromEntries(found);
}

/** What a message loads from its tables. */
export function loadedAddresses(
  message: CompiledMessage,
  tables: Readonly<Record<Address, readonly Address[]>>,
): LoadedAddresses {
  const lookups = "addressTableLookups" in message ? (message.addressTableLookups ?? []) : [];
  const pick = (table: Address, indexes: readonly number[]) =>
    indexes.flatMap((index) => tables[table]?.[index] ?? []);
  return {
    writable: lookups.flatMap((one) => pick(one.lookupTableAddress, one.writableIndexes)),
    readonly: lookups.flatMap((one) => pick(one.lookupTableAddress, one.readonlyIndexes)),
  };
}
