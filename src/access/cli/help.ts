const GRANTS = `    --name <text>                    up to 100 characters
    --limit <n>|default|none         requests per 60 s; default: the service's default
    --cu-allowance <n>|none          compute units per calendar month (UTC)
    --expires <ISO time>|none        such as 2027-01-31 or 2027-01-31T12:00:00Z
    --ip <address or CIDR,...>|none  addresses the key may be used from, IPv4 and IPv6
    --bridge-per-transfer <USDC>|none  most of one bridge transfer, within the operator's limit
    --bridge-per-day <USDC>|none     most of all transfers of a day (UTC), fees included, likewise`;

const usages = {
  create: `keys create --env test|live --scopes read,swaps,bridges,quotes [grants]
    make a key; its secret is printed this once
${GRANTS}`,
  list: `keys list
    all keys, newest first`,
  show: `keys show <id>
    one key, with hints of its secrets and its last use`,
  update: `keys update <id> [--scopes …] [grants]
    change what a key may do, at once; what is not named stays
${GRANTS}`,
  revoke: `keys revoke <id>
    end a key at once, for good`,
  rotate: `keys rotate <id> [--grace <n>s|m|h|d]
    issue a new secret, printed this once; older ones end after the grace (default 0s, at most 7d)`,
  usage: `keys usage <id> [--from <ISO date>] [--to <ISO date>]
    requests and compute units charged, per operation and chain; the current month unless told`,
  audit: `keys audit [--limit <n>] [--before <entry>]
    who changed what, newest first (20); --before continues an earlier page`,
} as const;

const CLOSING = `--json prints JSON, errors included. Works on the database DATABASE_URL names, with the pepper of
KEY_PEPPER or KEY_PEPPER_FILE where one is set. Exit code: 0 done, 1 refused, 2 wrong command line.`;

/** A command of `bun run keys`. */
export type CommandName = keyof typeof usages;

/** Whether a word is a command of `bun run keys`. */
export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(usages, word);
}

/** What `--help` prints, for one command or for all. */
export function keysHelp(command?: CommandName): string {
  if (command) return `usage: bun run ${usages[command]}\n\n${CLOSING}`;
  const first = Object.values(usages).map((usage) => usage.split("\n").slice(0, 2).join("\n"));
  return [
    "usage: bun run keys <command> [options]",
    ...first,
    "Grants, for create and update:",
    GRANTS,
    CLOSING,
  ].join("\n\n");
}
