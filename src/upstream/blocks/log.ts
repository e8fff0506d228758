import { parseHash, parseQuantity } from "./block.ts";

/** A log of a block, with what filters look at. Values are lower-case 0x hex. */
export interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly index: number;
  /** The log object as JSON text, `removed` being false. */
  readonly json: string;
}

const addressPattern = /^0x[0-9a-f]{40}$/;

/**
 * Reads the result of `eth_getLogs` for one block.
 * @returns logs in their order; undefined when it is not a list of logs of that block
 */
export function parseLogs(value: unknown, blockHash: string): Log[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const logs: Log[] = [];
  for (const entry of value) {
    const log = parseLog(entry, blockHash);
    if (!log) return undefined;
    logs.push(log);
  }
  return logs.sort((left, right) => left.index - right.index);
}

function parseLog(value: unknown, blockHash: string): Log | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const index = parseQuantity(fields["logIndex"]);
  const address = String(fields["address"]).toLowerCase();
  const topics = Array.isArray(fields["topics"]) ? fields["topics"].map(parseHash) : undefined;
  if (index === undefined || parseHash(fields["blockHash"]) !== blockHash) return undefined;
  if (!addressPattern.test(address) || !topics?.every((topic) => topic !== undefined)) {
    return undefined;
  }
  return { address, topics, index, json: JSON.stringify({ ...fields, removed: false }) };
}

/** JSON text of a log that is no longer part of the chain. */
export function removedJson(log: Log): string {
  return JSON.stringify({ ...(JSON.parse(log.json) as object), removed: true });
}
