import { parseArgs } from "node:util";
import type { BridgeStore, StoredTransfer } from "../db/index.ts";
import { formatDecimalAmount } from "../lib/amounts.ts";
import { systemClock } from "../lib/clock.ts";
import { type BridgeAdmin, createBridgeAdmin } from "./admin.ts";
import { transferStates } from "./transition.ts";

const bridgeHelp = `usage: bun run bridge <command> [options]   look after bridge transfers

bridge list [--state <state>] [--limit <n>]
    transfers, newest first (20); states: ${transferStates.join(", ")}
bridge show <id or transaction hash>
    one transfer with its transactions and its history
bridge resume <id or transaction hash>
    have the worker look at an unfinished transfer at once

--json prints JSON. The database is the one DATABASE_URL names; the running service does the work.`;

/** The command line is wrong; the message says how. */
export class BridgeUsageError extends Error {
  override readonly name = "BridgeUsageError";
}

const USDC_DECIMALS = 6;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
const OPTIONS = {
  state: { type: "string" },
  limit: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

interface Output {
  readonly data: unknown;
  readonly text: string;
}

/**
 * Runs one `bridge` command.
 * @param open - opens the bridge's store; called once the command line is known to be right
 * @throws BridgeUsageError, and Error when there is no such transfer
 */
export async function bridgeCommand(
  args: string[],
  open: () => Promise<{ readonly store: BridgeStore; close(): void }>,
  print: (text: string) => void,
): Promise<void> {
  const { positionals, values } = parse(args);
  const [command, id] = positionals;
  if (values.help || command === undefined) return print(bridgeHelp);
  if (command !== "list" && command !== "show" && command !== "resume") {
    throw new BridgeUsageError(`Unknown command: bridge ${command}`);
  }
  if (command !== "list" && id === undefined) throw new BridgeUsageError("<id> is missing");
  const page = pageOf(values.state, values.limit);
  const { store, close } = await open();
  try {
    const { data, text } = await run(createBridgeAdmin(store, systemClock), command, page, id);
    print(values.json ? JSON.stringify(data, amountsAsText) : text);
  } finally {
    close();
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new BridgeUsageError(error instanceof Error ? error.message : String(error));
  }
}

function pageOf(state: string | undefined, limitText: string | undefined) {
  const limit = Number(limitText ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new BridgeUsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  if (state !== undefined && !transferStates.some((known) => known === state)) {
    throw new BridgeUsageError(`--state must be one of ${transferStates.join(", ")}`);
  }
  return { limit, ...(state !== undefined && { state }) };
}

async function run(
  admin: BridgeAdmin,
  command: "list" | "show" | "resume",
  page: { limit: number; state?: string },
  id = "",
): Promise<Output> {
  if (command === "show") return show(admin, id);
  if (command === "resume") {
    const resumed = await admin.resume(id);
    return { data: { id: resumed, resumed: true }, text: `${resumed} is looked at next` };
  }
  const transfers = await admin.list(page);
  return { data: transfers, text: transfers.map(line).join("\n") || "no transfers" };
}

async function show(admin: BridgeAdmin, id: string): Promise<Output> {
  const { transfer, transactions, events } = await admin.show(id);
  const members = Object.entries(transfer).map(([name, value]) => `  ${name.padEnd(20)} ${value}`);
  const text = [
    line(transfer),
    ...members,
    "transactions",
    ...transactions.map(
      ({ purpose, chainId, nonce, hash }) =>
        `  ${purpose.padEnd(8)} chain ${chainId} nonce ${nonce ?? "-"} ${hash}`,
    ),
    "history",
    ...events.map(
      ({ at, event, toState, detail }) =>
        `  ${iso(at)} ${event.padEnd(14)} ${toState.padEnd(10)} ${JSON.stringify(detail)}`,
    ),
  ].join("\n");
  return { data: { ...transfer, transactions, events }, text };
}

function line(transfer: StoredTransfer): string {
  const amount = formatDecimalAmount(transfer.amount, USDC_DECIMALS);
  const route = `${transfer.fromChainId} → ${transfer.toChainId}`;
  const note = transfer.attention ? `  ! ${transfer.attention}` : "";
  const when = iso(transfer.createdAt);
  return `${transfer.id}  ${when}  ${transfer.state.padEnd(9)} ${amount} USDC  ${route}${note}`;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function amountsAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
