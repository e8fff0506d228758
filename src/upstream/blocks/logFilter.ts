import { type BloomBits, bloomBits, bloomHas } from "./bloom.ts";
import type { Log } from "./log.ts";

/** What logs are wanted; equal filters have equal keys. Values are lower-case 0x hex. */
export interface LogFilter {
  /** Any of these; empty: every address. */
  readonly addresses: readonly string[];
  /** Per position any of these, empty: every value. A log must have that many topics at least. */
  readonly topics: readonly (readonly string[])[];
  /** Canonical text. */
  readonly key: string;
}

/** A filter that cannot be followed; the message says why. */
export class LogFilterError extends Error {
  override readonly name = "LogFilterError";
}

/** Most values of one position, as in go-ethereum. */
const MAX_VALUES = 1_000;
const MAX_TOPICS = 4;
/** A joined filter with more values than this asks for all instead. */
const MAX_JOINED_VALUES = 200;

const addressPattern = /^0x[0-9a-fA-F]{40}$/;
const topicPattern = /^0x[0-9a-fA-F]{64}$/;

/**
 * Reads the filter of a logs subscription: `address` and `topics`. A range makes no sense for what
 * is yet to come and is ignored, as nodes do.
 * @throws LogFilterError
 */
export function parseLogFilter(value: unknown): LogFilter {
  if (value === undefined || value === null) return filterOf([], []);
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new LogFilterError("the filter must be an object");
  }
  const { address, topics, blockHash } = value as Record<string, unknown>;
  if (blockHash !== undefined) throw new LogFilterError("blockHash cannot be subscribed to");
  return filterOf(parseValues("address", address, addressPattern), parseTopics(topics));
}

function parseTopics(value: unknown): string[][] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new LogFilterError("topics must be an array");
  if (value.length > MAX_TOPICS) {
    throw new LogFilterError(`topics must have at most ${MAX_TOPICS} positions`);
  }
  return value.map((entry, index) => parseValues(`topics[${index}]`, entry, topicPattern));
}

function parseValues(name: string, value: unknown, pattern: RegExp): string[] {
  if (value === undefined || value === null) return [];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.length > MAX_VALUES) {
    throw new LogFilterError(`${name} must have at most ${MAX_VALUES} values`);
  }
  // Among alternatives, null stands for every value.
  if (values.includes(null)) return [];
  const texts = values.map((one) => {
    if (typeof one !== "string" || !pattern.test(one)) {
      throw new LogFilterError(`${name} must be hex of the right length`);
    }
    return one.toLowerCase();
  });
  return [...new Set(texts)].sort();
}

function filterOf(addresses: string[], topics: string[][]): LogFilter {
  return { addresses, topics, key: JSON.stringify([addresses, topics]) };
}

/** Whether a log is one the filter wants. */
export function matchesFilter({ addresses, topics }: LogFilter, log: Log): boolean {
  if (addresses.length > 0 && !addresses.includes(log.address)) return false;
  if (topics.length > log.topics.length) return false;
  return topics.every(
    (wanted, index) => wanted.length === 0 || wanted.includes(log.topics[index] ?? ""),
  );
}

/** Tells from a block's bloom whether the block may hold logs of a filter. */
export function bloomTest({ addresses, topics }: LogFilter): (bloom: Uint8Array) => boolean {
  const groups: BloomBits[][] = [addresses, ...topics]
    .filter((values) => values.length > 0)
    .map((values) => values.map(bloomBits));
  return (bloom) => groups.every((bits) => bits.some((one) => bloomHas(bloom, one)));
}

/** The `address` and `topics` of one query that gives the logs of all filters, and maybe others. */
export function joinFilters(filters: readonly LogFilter[]): {
  readonly address?: readonly string[];
  readonly topics?: readonly (readonly string[] | null)[];
} {
  const [only] = filters;
  const address = joinValues(filters.map(({ addresses }) => addresses));
  const first = joinValues(filters.map(({ topics }) => topics[0] ?? []));
  const topics =
    filters.length === 1 && only
      ? only.topics.map((values) => (values.length > 0 ? values : null))
      : first && [first];
  return { ...(address && { address }), ...(topics && topics.length > 0 && { topics }) };
}

/** All values of lists that each name some; undefined when one names none, or there are too many. */
function joinValues(lists: readonly (readonly string[])[]): readonly string[] | undefined {
  if (lists.some((values) => values.length === 0)) return undefined;
  const joined = new Set(lists.flat());
  return joined.size <= MAX_JOINED_VALUES ? [...joined] : undefined;
}
