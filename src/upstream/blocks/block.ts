/** A block as followers see it. Hashes are 0x hex in lower case. */
export interface Block {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** The header's bloom filter of addresses and topics, 256 bytes; undefined where there is none. */
  readonly logsBloom: Uint8Array | undefined;
  /** JSON text of the header: the block without its transactions, uncles and withdrawals. */
  readonly header: string;
}

const bodyMembers: ReadonlySet<string> = new Set(["transactions", "uncles", "withdrawals"]);
const hashPattern = /^0x[0-9a-f]{64}$/;
const bloomPattern = /^0x[0-9a-f]{512}$/i;
const quantityPattern = /^0x[0-9a-f]{1,13}$/i;

/**
 * Reads the result of `eth_getBlockByNumber` or `eth_getBlockByHash`.
 * @returns undefined when it is null, pending or not a block
 */
export function parseBlock(value: unknown): Block | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const number = parseQuantity(fields["number"]);
  const timestamp = parseQuantity(fields["timestamp"]);
  const hash = parseHash(fields["hash"]);
  const parentHash = parseHash(fields["parentHash"]);
  if (number === undefined || timestamp === undefined || !hash || !parentHash) return undefined;
  const header = Object.entries(fields).filter(([name]) => !bodyMembers.has(name));
  return {
    number,
    hash,
    parentHash,
    timestamp,
    logsBloom: parseBloom(fields["logsBloom"]),
    header: JSON.stringify(Object.fromEntries(header)),
  };
}

function parseBloom(value: unknown): Uint8Array | undefined {
  if (typeof value !== "string" || !bloomPattern.test(value)) return undefined;
  return Buffer.from(value.slice(2), "hex");
}

/** A 32-byte hash in lower case; undefined when the value is none. */
export function parseHash(value: unknown): string | undefined {
  const text = typeof value === "string" ? value.toLowerCase() : "";
  return hashPattern.test(text) ? text : undefined;
}

/** A hex quantity that fits a safe integer; undefined when the value is none. */
export function parseQuantity(value: unknown): number | undefined {
  if (typeof value !== "string" || !quantityPattern.test(value)) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** A number as a JSON-RPC quantity. */
export function toQuantity(number: number): string {
  return `0x${number.toString(16)}`;
}
