import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Address, getAddress, isHex, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createRegistry } from "../chains/index.ts";
import { loadConfig } from "../config/index.ts";
import { deployExecutor } from "./deploy.ts";
import { type ExecutorParameters, executorDeployment } from "./deployment.ts";
import { executorTable, parseTable } from "./table.ts";

const USAGE = `usage:
  executor build
      compile the contracts and write artifacts and ABIs
  executor address [--table <file>] [--fee-recipient <address>] [--salt <hex>]
      print the address these parameters lead to
  executor deploy --chain <id> --rpc-url <url> --key-file <file> [--table <file>]
                  [--fee-recipient <address>] [--salt <hex>]
      deploy to one chain through the CREATE2 deployer and verify the code

  --table          JSON: [{ chainId, wrappedNative?, venues: [{ factory, initCodeHash, kind,
                   feeBps? }] }]; default: the configured networks that have venues
  --fee-recipient  receives platform fees; default: none, and orders with a fee are refused
  --salt           32 bytes; default: zero
  --key-file       file with the private key that pays the gas`;

const OPTIONS = {
  chain: { type: "string" },
  "rpc-url": { type: "string" },
  "key-file": { type: "string" },
  table: { type: "string" },
  "fee-recipient": { type: "string" },
  salt: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

/**
 * The operator's `executor` command.
 * @param args - what follows `executor` on the command line
 * @param print - takes one line of output
 * @throws Error with what to tell the operator
 */
export async function executorCommand(
  args: string[],
  print: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
): Promise<void> {
  const { positionals, values } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [command, ...rest] = positionals;
  if (values.help) return print(USAGE);
  if (rest.length > 0) throw new Error(USAGE);
  switch (command) {
    case "build": {
      const { buildContracts } = await import("./build.ts");
      for (const file of await buildContracts()) print(file);
      return;
    }
    case "address":
      print(executorDeployment(await readParameters(values)).address);
      return;
    case "deploy":
      await deploy(values, print);
      return;
    default:
      throw new Error(USAGE);
  }
}

async function deploy(options: Options, print: (line: string) => void): Promise<void> {
  const chainId = Number(required(options, "chain"));
  if (!Number.isSafeInteger(chainId) || chainId < 1) throw new Error("--chain must be an integer");
  const rpcUrl = required(options, "rpc-url");
  const key = (await readFile(required(options, "key-file"), "utf8")).trim();
  if (!isHex(key) || key.length !== 66) {
    throw new Error("--key-file must hold one private key: 0x and 64 hex digits");
  }
  const account = privateKeyToAccount(key);
  const outcome = await deployExecutor(await readParameters(options), { chainId, rpcUrl, account });
  print(
    outcome.transactionHash
      ? `deployed by ${outcome.transactionHash}, code verified`
      : "was deployed already, code verified",
  );
  print(outcome.address);
}

async function readParameters(options: Options): Promise<ExecutorParameters> {
  const table = options.table
    ? parseTable(await readFile(options.table, "utf8"))
    : executorTable(createRegistry(loadConfig().networks).all);
  const { salt } = options;
  if (salt === undefined) return { table, feeRecipient: readFeeRecipient(options) };
  if (!isHex(salt) || salt.length !== 66) throw new Error("--salt must be 0x and 64 hex digits");
  return { table, feeRecipient: readFeeRecipient(options), salt };
}

function readFeeRecipient(options: Options): Address {
  return getAddress(options["fee-recipient"] ?? zeroAddress);
}

function required(options: Options, name: Exclude<keyof typeof OPTIONS, "help">): string {
  const value = options[name];
  if (!value) throw new Error(`--${name} is missing\n\n${USAGE}`);
  return value;
}
