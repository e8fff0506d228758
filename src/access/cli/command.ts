import { parseArgs } from "node:util";
import type { ActivityStore, AuditStore } from "../../db/index.ts";
import { ApiError } from "../../lib/errors.ts";
import { KeyError } from "../keyRules.ts";
import type { KeyService } from "../keys.ts";
import type { Meter } from "../meter.ts";
import { usageOfSpan, usageSpan } from "../usage.ts";
import { type CommandName, isCommandName, keysHelp } from "./help.ts";
import {
  detailsJson,
  iso,
  keyJson,
  keyTable,
  members,
  type Output,
  table,
  withSecret,
} from "./output.ts";
import * as read from "./values.ts";

/** What `bun run keys` works on. */
export interface KeysTarget {
  readonly keys: KeyService;
  readonly meter: Meter;
  readonly audit: AuditStore;
  readonly activity: ActivityStore;
  close(): void | Promise<void>;
}

const ACTOR = "cli";
const DEFAULT_PAGE = 20;
const MAX_PAGE = 1_000;

interface Command {
  readonly takesId?: boolean;
  readonly options: readonly string[];
  run(target: KeysTarget, values: read.Values, id: string): Promise<Output>;
}

const commands: Readonly<Record<CommandName, Command>> = {
  create: {
    options: ["env", ...read.grantOptionNames],
    async run({ keys }, values) {
      const environment = read.required(read.text(values, "env"), "--env");
      if (environment !== "live" && environment !== "test") {
        throw new read.KeysUsageError("--env must be test or live");
      }
      read.required(read.text(values, "scopes"), "--scopes");
      const grants = read.readGrants(values);
      const { key, secret } = await keys.create(
        { ...grants, environment, scopes: grants.scopes ?? [] },
        ACTOR,
      );
      return withSecret(key, secret);
    },
  },
  list: {
    options: [],
    async run({ keys, activity }) {
      const all = await keys.list();
      const lastUsed = await activity.lastUsed(all.map(({ id }) => id));
      const data = all.map((key) => detailsJson(key, lastUsed.get(key.id)));
      return { data, text: keyTable(all, Date.now()) };
    },
  },
  show: {
    takesId: true,
    options: [],
    async run({ keys, activity }, _values, id) {
      const key = await keys.show(id);
      if (!key) throw new KeyError(`No key has the id ${id}`);
      const data = detailsJson(key, (await activity.lastUsed([id])).get(id));
      return { data, text: members(data) };
    },
  },
  update: {
    takesId: true,
    options: read.grantOptionNames,
    async run({ keys }, values, id) {
      const grants = read.readGrants(values);
      if (Object.keys(grants).length === 0) {
        throw new read.KeysUsageError("Name what is to be changed");
      }
      const data = keyJson(await keys.update(id, grants, ACTOR));
      return { data, text: members(data) };
    },
  },
  revoke: {
    takesId: true,
    options: [],
    async run({ keys }, _values, id) {
      await keys.revoke(id, ACTOR);
      return { data: { id, revoked: true }, text: `${id} is revoked` };
    },
  },
  rotate: {
    takesId: true,
    options: ["grace"],
    async run({ keys }, values, id) {
      const graceMs = read.duration(read.text(values, "grace") ?? "0s", "--grace");
      const { key, secret } = await keys.rotate(id, graceMs, ACTOR);
      return withSecret(key, secret);
    },
  },
  usage: { takesId: true, options: ["from", "to"], run: usage },
  audit: { options: ["limit", "before"], run: audit },
};

/**
 * Runs one `keys` command.
 * @param open - opens the database; called once the command line is known to be right
 * @throws KeysUsageError, and KeyError when it cannot be carried out
 */
export async function keysCommand(
  args: string[],
  open: () => Promise<KeysTarget>,
  print: (text: string) => void,
): Promise<void> {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h") return print(keysHelp());
  if (!isCommandName(name)) throw new read.KeysUsageError(`Unknown command: keys ${name}`);
  const command = commands[name];
  const { positionals, values } = parse(rest, command);
  if (values["help"]) return print(keysHelp(name));
  const [id, ...excess] = positionals;
  const extra = command.takesId ? excess[0] : id;
  if (extra !== undefined) throw new read.KeysUsageError(`Unexpected argument: ${extra}`);
  const keyId = command.takesId ? read.required(id, "<id>") : "";

  const target = await open();
  try {
    const { data, text } = await command.run(target, values, keyId);
    print(values["json"] ? JSON.stringify(data) : text);
  } finally {
    await target.close();
  }
}

function parse(args: string[], { options: names }: Command) {
  const options: NonNullable<Parameters<typeof parseArgs>[0]>["options"] & object = {
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  };
  for (const name of names) options[name] = { type: "string" };
  try {
    const { positionals, values } = parseArgs({ args, options, allowPositionals: true });
    return { positionals, values: values as read.Values };
  } catch (error) {
    throw new read.KeysUsageError(error instanceof Error ? error.message : String(error));
  }
}

async function usage({ keys, meter }: KeysTarget, values: read.Values, id: string) {
  const key = await keys.show(id);
  if (!key) throw new KeyError(`No key has the id ${id}`);
  const query = new URLSearchParams();
  for (const name of ["from", "to"]) {
    const value = read.text(values, name);
    if (value !== undefined) query.set(name, value);
  }
  const used = await usageOfSpan(meter, key, spanOf(query));
  const rows = used.operations.map(({ operation, chainId, requests, cu }) => [
    operation,
    String(chainId ?? "-"),
    `${requests} requests`,
    `${cu} CU`,
  ]);
  const total = `${used.requests} requests, ${used.totalCu} CU`;
  return { data: used, text: [total, ...(rows.length > 0 ? [table(rows)] : [])].join("\n") };
}

function spanOf(query: URLSearchParams) {
  try {
    return usageSpan(query, Date.now());
  } catch (error) {
    if (error instanceof ApiError) throw new read.KeysUsageError(error.message);
    throw error;
  }
}

async function audit({ audit: log }: KeysTarget, values: read.Values): Promise<Output> {
  const limit = read.integer(read.text(values, "limit") ?? String(DEFAULT_PAGE), "--limit");
  if (limit < 1 || limit > MAX_PAGE) {
    throw new read.KeysUsageError(`--limit must be from 1 to ${MAX_PAGE}`);
  }
  const before = read.text(values, "before");
  const beforeId = before === undefined ? undefined : read.integer(before, "--before");
  const entries = await log.list({ limit, ...(beforeId !== undefined && { beforeId }) });
  const data = entries.map(({ at, ...entry }) => Object.assign(entry, { at: iso(at) }));
  const rows = data.map(({ id, at, actor, action, subject, detail }) => [
    String(id),
    at ?? "",
    actor,
    action,
    subject,
    JSON.stringify(detail),
  ]);
  return { data, text: rows.length === 0 ? "nothing was changed yet" : table(rows) };
}
