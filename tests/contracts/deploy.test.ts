import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createPublicClient,
  type Hex,
  http,
  keccak256,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from "viem";
import { executorCommand } from "../../src/contracts/command.ts";
import {
  executorDeployment,
  type ExecutorParameters,
  executorTable,
  type ExecutorVenue,
  expectedExecutorCode,
  swapExecutorAbi,
} from "../../src/contracts/index.ts";
import { createRegistry } from "../../src/chains/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { sandboxAccounts } from "../../src/sandbox/accounts.ts";
import { type Anvil, startAnvil } from "../../src/sandbox/anvil.ts";
import { createProcessGroup } from "../../src/sandbox/processes.ts";

const group = createProcessGroup();
const address = (digit: number): Hex => `0x${String(digit).repeat(40)}`;
const venue = (digit: number, kind: 2 | 3) => ({
  factory: address(digit),
  initCodeHash: keccak256(address(digit)),
  kind,
  feeBps: kind === 2 ? 25 : 0,
});
const table = [
  { chainId: 701n, wrappedNative: address(9), venues: [venue(1, 3), venue(2, 2)] },
  {
    chainId: 702n,
    wrappedNative: zeroAddress,
    venues: [venue(3, 2), venue(4, 3), venue(5, 3), venue(6, 2), venue(7, 2), venue(8, 3)],
  },
];
const feeRecipient = address(6);

let chains: Anvil[];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "executor-"));
  // Blocks at a pace too: a busy node may leave a transaction to the next reason to mine.
  chains = await Promise.all(
    [701, 702, 703].map((chainId) => startAnvil(group, { chainId, blockTimeSeconds: 1 })),
  );
  await writeFile(join(folder, "key"), `${sandboxAccounts().deployer.privateKey}\n`);
  const json = table.map(({ chainId, wrappedNative, venues }) => ({
    chainId: Number(chainId),
    ...(wrappedNative !== zeroAddress && { wrappedNative }),
    venues: venues.map(({ feeBps, ...rest }) => (rest.kind === 2 ? { ...rest, feeBps } : rest)),
  }));
  await writeFile(join(folder, "table.json"), JSON.stringify(json));
});
afterAll(async () => {
  await group.stop();
  await rm(folder, { recursive: true });
});

function deploy(chain: number, url: string, ...more: string[]): Promise<string[]> {
  const files = ["--key-file", join(folder, "key"), "--table", join(folder, "table.json")];
  const target = ["--chain", String(chain), "--rpc-url", url, "--fee-recipient", feeRecipient];
  return run("deploy", ...target, ...files, ...more);
}

async function run(...args: string[]): Promise<string[]> {
  const lines: string[] = [];
  await executorCommand(args, (line) => lines.push(line));
  return lines;
}

describe("executor deploy", () => {
  test("puts the expected code at one address on every chain of the table", async () => {
    const expected = executorDeployment({ table, feeRecipient }).address;
    for (const { chainId, venues, wrappedNative } of table) {
      const url = chains[Number(chainId) - 701]!.url;
      expect((await deploy(Number(chainId), url)).at(-1)).toBe(expected);
      const client = createPublicClient({ transport: http(url), cacheTime: 0 });
      const code = expectedExecutorCode({ table, feeRecipient }, chainId);
      expect(await client.getCode({ address: expected })).toBe(code);

      const contract = { address: expected, abi: swapExecutorAbi } as const;
      const read = (i: number) =>
        client.readContract({ ...contract, functionName: "venue", args: [BigInt(i)] });
      for (const [i, { factory, initCodeHash, kind, feeBps }] of venues.entries()) {
        const [f, hash, k, fee] = await read(i);
        expect([f, hash, k, fee]).toEqual([factory, initCodeHash, kind, feeBps]);
      }
      await expect(read(venues.length)).rejects.toThrow("UnknownVenue");
      expect(await client.readContract({ ...contract, functionName: "venueCount" })).toBe(
        BigInt(venues.length),
      );
      expect(await client.readContract({ ...contract, functionName: "feeRecipient" })).toBe(
        feeRecipient,
      );
      expect(await client.readContract({ ...contract, functionName: "wrappedNative" })).toBe(
        wrappedNative,
      );
    }
  });

  test("verifies and sends nothing where it is already", async () => {
    const [chain] = chains;
    await deploy(701, chain!.url);
    const sender = [sandboxAccounts().deployer.address, "latest"];
    const nonce = await chain!.rpc.call("eth_getTransactionCount", sender);
    expect((await deploy(701, chain!.url))[0]).toContain("was deployed already");
    expect(await chain!.rpc.call("eth_getTransactionCount", sender)).toBe(nonce);
  });

  test("refuses code that is not the executor's", async () => {
    const [chain] = chains;
    const salt = keccak256("0x01");
    const at = executorDeployment({ table, feeRecipient, salt }).address;
    await chain!.rpc.call("anvil_setCode", [at, "0x6001"]);
    await expect(deploy(701, chain!.url, "--salt", salt)).rejects.toThrow("is not the executor's");
  });

  test("refuses a node of another chain and a chain outside the table", async () => {
    await expect(deploy(702, chains[0]!.url)).rejects.toThrow("serves chain 701, not 702");
    await expect(deploy(703, chains[2]!.url)).rejects.toThrow("no entry for chain 703");
  });

  test("refuses a chain without the CREATE2 deployer", async () => {
    const { factory } = executorDeployment({ table, feeRecipient });
    const salt = keccak256("0x02");
    await chains[1]!.rpc.call("anvil_setCode", [factory, "0x"]);
    await expect(deploy(702, chains[1]!.url, "--salt", salt)).rejects.toThrow(
      "no CREATE2 deployer",
    );
  });
});

/** Runs the constructor on the first chain. */
async function construct(parameters: ExecutorParameters): Promise<unknown> {
  const { calldata } = executorDeployment(parameters);
  const initCode = `0x${calldata.slice(66)}`;
  return chains[0]!.rpc.call("eth_call", [{ data: initCode }, "latest"]);
}

const withVenues = (venues: readonly ExecutorVenue[]) => ({
  table: [{ chainId: 701n, wrappedNative: zeroAddress, venues }],
  feeRecipient,
});

test("the constructor refuses a chain outside the table and venues that make no sense", async () => {
  expect(await construct(withVenues([venue(1, 3)]))).toStartWith("0x");
  for (const invalid of [
    { ...venue(1, 2), feeBps: 1_001 },
    { ...venue(1, 3), feeBps: 1 },
    { ...venue(1, 3), factory: zeroAddress },
    { ...venue(1, 3), initCodeHash: zeroHash },
    { ...venue(1, 3), kind: 4 as 3 },
  ]) {
    const attempt = construct(withVenues([venue(2, 3), invalid]));
    await expect(attempt).rejects.toThrow(toFunctionSelector("InvalidVenue(uint256)"));
  }
  const seven = Array.from({ length: 7 }, () => venue(1, 3));
  await expect(construct(withVenues(seven))).rejects.toThrow(
    toFunctionSelector("TooManyVenues(uint256)"),
  );
  await expect(construct({ table: [table[1]!], feeRecipient })).rejects.toThrow(
    toFunctionSelector("ChainNotConfigured(uint256)"),
  );
});

test("the registry's networks with venues make the default table, in the registry's order", async () => {
  const registry = createRegistry(loadConfig({}).networks);
  const [arc] = executorTable(registry.all);
  const venues = registry.byId(5042)!.venues;
  expect(arc?.chainId).toBe(5042n);
  expect(arc?.venues.map(({ factory }) => factory.toLowerCase())).toEqual(
    venues.map(({ factory }) => factory.toLowerCase()),
  );
  expect(arc?.venues.map(({ kind, feeBps }) => [kind, feeBps])).toEqual([
    [3, 0],
    [2, 30],
  ]);
  expect(await run("address")).toEqual([
    executorDeployment({ table: executorTable(registry.all), feeRecipient: zeroAddress }).address,
  ]);
});
