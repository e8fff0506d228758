import { parseArgs } from "node:util";
import {
  type ApiKey,
  KeyError,
  type KeyService,
  openKeyService,
  UNLIMITED_WINDOW,
} from "./access/index.ts";
import { loadConfig } from "./config/index.ts";
import { loadOperatorTarget } from "./config/operator.ts";
import { openDatabase } from "./db/index.ts";

const HELP = `usage: bun run keys <command> [options]      manage API keys
       bun run upstreams <command> [options] see and change the nodes of a running service
       bun run executor <command> [options]  build and deploy the swap executor
       bun run bridge <command> [options]    look after bridge transfers

keys create --env test|live --scopes read,swaps,bridges,quotes
            [--name <text>] [--limit <requests per 60 s>|none] [--cu-allowance <CU per month>]
            [--expires <ISO time>] [--ip <CIDR,...>]
    make a key; its secret is printed once
keys list                       all keys, newest first
keys show <id>                  one key, with hints of its secrets
keys revoke <id>                end a key at once
keys rotate <id> [--grace <n>s|m|h|d]
    issue a new secret; older ones end after the grace (default 0s, at most 7d)

--json prints JSON. The database is the one DATABASE_URL names.`;

const OPTIONS = {
  env: { type: "string" },
  scopes: { type: "string" },
  name: { type: "string" },
  limit: { type: "string" },
  "cu-allowance": { type: "string" },
  expires: { type: "string" },
  ip: { type: "string" },
  grace: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** The command line is wrong; the message says how. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

function parseKeysArguments(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

type Values = ReturnType<typeof parseKeysArguments>["values"];

async function keysCommand(args: string[]): Promise<void> {
  const { positionals, values } = parseKeysArguments(args);
  const [command, id] = positionals;
  if (values.help || command === undefined) return console.log(HELP);
  const run = commands[command];
  if (!run) throw new UsageError(`Unknown command: keys ${command}`);

  const database = openDatabase(loadConfig().database.url);
  try {
    const keys = await openKeyService(database);
    const { data, text } = await run(keys, values, id);
    console.log(values.json ? JSON.stringify(data) : text);
  } finally {
    database.close();
  }
}

interface Output {
  readonly data: unknown;
  readonly text: string;
}

type Command = (keys: KeyService, values: Values, id: string | undefined) => Promise<Output>;

const commands: Readonly<Record<string, Command>> = {
  async create(keys, values) {
    const environment = required(values.env, "--env");
    if (environment !== "live" && environment !== "test") {
      throw new UsageError("--env must be test or live");
    }
    const { key, secret } = await keys.create(
      {
        environment,
        scopes: list(required(values.scopes, "--scopes")),
        name: values.name ?? "",
        windowLimit: values.limit === "none" ? UNLIMITED_WINDOW : integer(values.limit, "--limit"),
        cuAllowance: integer(values["cu-allowance"], "--cu-allowance"),
        expiresAt: instant(values.expires, "--expires"),
        ipAllowList: list(values.ip ?? ""),
      },
      "cli",
    );
    return withSecret(key, secret);
  },

  async list(keys) {
    const all = await keys.list();
    return { data: all.map(forJson), text: all.map(line).join("\n") || "no keys" };
  },

  async show(keys, _values, id) {
    const key = await keys.show(required(id, "<id>"));
    if (!key) throw new KeyError(`No key has the id ${id}`);
    const secrets = key.secrets.map(({ hint, createdAt, graceUntil }) => ({
      hint,
      createdAt: iso(createdAt),
      graceUntil: iso(graceUntil),
    }));
    const data = { ...forJson(key), secrets };
    return { data, text: JSON.stringify(data, undefined, 2) };
  },

  async revoke(keys, _values, id) {
    const revoked = required(id, "<id>");
    await keys.revoke(revoked, "cli");
    return { data: { id: revoked, revoked: true }, text: `${revoked} is revoked` };
  },

  async rotate(keys, values, id) {
    const graceMs = duration(values.grace ?? "0s", "--grace");
    const { key, secret } = await keys.rotate(required(id, "<id>"), graceMs, "cli");
    return withSecret(key, secret);
  },
};

function withSecret(key: ApiKey, secret: string): Output {
  const { id, ...rest } = forJson(key);
  return {
    data: { id, key: secret, ...rest },
    text: `${secret}\n\n${line(key)}\nThe key is shown this once; only a keyed hash is stored.`,
  };
}

function forJson(key: ApiKey) {
  const { createdAt, expiresAt, revokedAt, ...rest } = key;
  return {
    ...rest,
    createdAt: iso(createdAt),
    expiresAt: iso(expiresAt),
    revokedAt: iso(revokedAt),
  };
}

function line(key: ApiKey): string {
  const limit = key.windowLimit === UNLIMITED_WINDOW ? "none" : (key.windowLimit ?? "default");
  const state = key.revokedAt === null ? "active" : `revoked ${iso(key.revokedAt)}`;
  return `${key.id}  ${key.environment}  ${key.scopes.join(",")}  limit ${limit}  ${state}  ${key.name}`;
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function required(value: string | undefined, name: string): string {
  if (value === undefined || value === "") throw new UsageError(`${name} is missing`);
  return value;
}

function list(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function integer(text: string | undefined, name: string): number | null {
  if (text === undefined) return null;
  if (!/^[0-9]{1,15}$/.test(text)) throw new UsageError(`${name} must be a whole number`);
  return Number(text);
}

function instant(text: string | undefined, name: string): number | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new UsageError(`${name} must be an ISO time`);
  return time;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function duration(text: string, name: string): number {
  const [, digits, unit] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit ?? ""];
  if (unitMs === undefined) throw new UsageError(`${name} must be a duration such as 30m`);
  return Number(digits) * unitMs;
}

function openBridgeStore() {
  const database = openDatabase(loadConfig().database.url);
  return { store: database.bridge, close: database.close };
}

async function main([area, ...args]: string[]): Promise<void> {
  switch (area) {
    case "keys":
      return keysCommand(args);
    case "upstreams": {
      const { upstreamsCommand } = await import("./console/index.ts");
      return upstreamsCommand(args, loadOperatorTarget, console.log);
    }
    case "executor": {
      const { executorCommand } = await import("./contracts/command.ts");
      return executorCommand(args, console.log);
    }
    case "bridge": {
      const { bridgeCommand } = await import("./bridge/index.ts");
      return bridgeCommand(args, openBridgeStore, console.log);
    }
    default:
      console.log(HELP);
      if (area !== undefined && area !== "--help" && area !== "-h") process.exitCode = 2;
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  // By name, because the bridge is loaded only where it is needed.
  const isUsage = error instanceof Error && error.name.endsWith("UsageError");
  console.error(isUsage ? `${message}\n\n${HELP}` : message);
  process.exitCode = isUsage ? 2 : 1;
}
