import { parseArgs } from "node:util";
import type { OperatorTarget } from "../config/operator.ts";
import type { UpstreamStatus } from "../upstream/index.ts";
import type { NewUpstream } from "./model.ts";

export const UPSTREAMS_HELP = `usage: bun run upstreams <command> [options]

list                        every upstream with its state and score
add <chain id> <url>|-      use a node; - reads the URL from standard input
    [--account <name>] [--max-concurrent <n>] [--requests-per-second <n>]
    [--batch-items <n>] [--batch-wait-ms <n>] [--batch-count-as items|requests]
drain <id>                  send a node no more calls
remove <id>                 drain a node, then drop it

--json prints JSON. Talks to the running service at CAUSEWAY_URL (default: HOST and PORT of this
environment) with ADMIN_TOKEN. Changes outlive the service's process.`;

const OPTIONS = {
  account: { type: "string" },
  "max-concurrent": { type: "string" },
  "requests-per-second": { type: "string" },
  "batch-items": { type: "string" },
  "batch-wait-ms": { type: "string" },
  "batch-count-as": { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** The service refused, or the command line is wrong; the message says how. */
export class UpstreamsCommandError extends Error {
  override readonly name = "UpstreamsCommandError";
}

const REQUEST_TIMEOUT_MS = 70_000;

/**
 * Runs `bun run upstreams …` against a running service.
 * @param target - read when it is needed, so that help needs no token
 * @throws UpstreamsCommandError
 */
export async function upstreamsCommand(
  args: string[],
  target: () => OperatorTarget,
  print: (text: string) => void,
): Promise<void> {
  const { positionals, values } = parse(args);
  const [command, ...rest] = positionals;
  if (values.help || command === undefined) return print(UPSTREAMS_HELP);
  const send = (method: string, path: string, body?: unknown) =>
    request(target(), method, path, body);

  const run = async (): Promise<unknown> => {
    switch (command) {
      case "list":
        return send("GET", "");
      case "add":
        return send("POST", "", await newUpstream(rest, values));
      case "drain":
        return send("POST", `/${idOf(rest)}/drain`);
      case "remove":
        return send("DELETE", `/${idOf(rest)}`);
      default:
        throw new UpstreamsCommandError(`Unknown command: upstreams ${command}`);
    }
  };
  const data = await run();
  if (values.json) print(JSON.stringify(data));
  else if (command === "list") print((data as UpstreamStatus[]).map(line).join("\n"));
  else print(command === "add" ? line(data as UpstreamStatus) : `${idOf(rest)}: done`);
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UpstreamsCommandError(String(error), { cause: error });
  }
}

type Values = ReturnType<typeof parse>["values"];

async function newUpstream(rest: readonly string[], values: Values): Promise<NewUpstream> {
  const [chainId, given] = rest;
  if (!chainId || !given) throw new UpstreamsCommandError("add needs a chain id and a URL");
  const maxItems = integer(values["batch-items"]);
  const maxWaitMs = integer(values["batch-wait-ms"]);
  const countAs = values["batch-count-as"];
  const account = values.account;
  const maxConcurrent = integer(values["max-concurrent"]);
  const requestsPerSecond = integer(values["requests-per-second"]);
  if (countAs !== undefined && countAs !== "items" && countAs !== "requests") {
    throw new UpstreamsCommandError("--batch-count-as must be items or requests");
  }
  return {
    chainId: integer(chainId) ?? 0,
    url: given === "-" ? (await Bun.stdin.text()).trim() : given,
    ...(account !== undefined && { account }),
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(maxItems !== undefined && {
      batch: {
        maxItems,
        ...(maxWaitMs !== undefined && { maxWaitMs }),
        ...(countAs !== undefined && { countAs }),
      },
    }),
  };
}

function integer(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,16}$/.test(text)) throw new UpstreamsCommandError(`${text} is no whole number`);
  return Number(text);
}

function idOf([id]: readonly string[]): string {
  if (!id || !/^[0-9a-f]+$/.test(id))
    throw new UpstreamsCommandError("An upstream's id is missing");
  return id;
}

async function request(
  { baseUrl, adminToken }: OperatorTarget,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`${baseUrl}/console/api/upstreams${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new UpstreamsCommandError("The service cannot be reached", { cause });
  });
  const answer = (await response.json()) as { success: boolean; data?: unknown; error?: string };
  if (!answer.success) throw new UpstreamsCommandError(answer.error ?? `HTTP ${response.status}`);
  return answer.data;
}

function line(one: UpstreamStatus): string {
  const { id, chainId, name, state, reason, costMs, inFlight, pace } = one;
  const rate = pace.learnedPerSecond ?? pace.declaredPerSecond;
  const limit = rate === undefined ? "" : `  ${rate.toFixed(1)}/s`;
  const why = reason === undefined ? "" : ` (${reason})`;
  return `${id}  ${chainId}  ${name}  ${state}${why}  ${costMs.toFixed(1)} ms  ${inFlight} in flight${limit}`;
}
