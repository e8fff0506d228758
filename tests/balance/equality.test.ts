import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Address, address, getAddressDecoder, lamports } from "@solana/kit";
import {
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  formatUnits,
  type Hex,
  http,
  toHex,
} from "viem";
import { solanaDevnet } from "../../src/chains/networks/solana.ts";
import { type Random, seededRandom } from "../../src/lib/clock.ts";
import { solanaMints } from "../../src/sandbox/solana/mints.ts";
import { setData } from "../../src/sandbox/solana/genesis.ts";
import {
  encodeMint,
  encodeTokenAccount,
  tokenPrograms,
} from "../../src/sandbox/solana/tokenLayout.ts";
import { accounts, type PreparedChain, startPreparedChain } from "../support/chain.ts";
import { callNode, type LocalSolana, startSolana } from "../support/solana.ts";
import { balanceApp } from "./support.ts";

const EVM_CASES = 200;
const SOLANA_CASES = 50;
let chain: PreparedChain;
let solana: LocalSolana;
let app: Awaited<ReturnType<typeof balanceApp>>;

const pick = <Item>(items: readonly Item[], random: Random): Item =>
  items[Math.floor(random() * items.length)]!;
const randomBytes = (length: number, random: Random) =>
  Uint8Array.from({ length }, () => Math.floor(random() * 256));
/** Uniform over lengths, so that small and huge amounts are as frequent. */
const randomAmount = (maxBits: number, random: Random) =>
  BigInt(toHex(randomBytes(32, random))) >> BigInt(256 - Math.floor(random() * (maxBits + 1)));

beforeAll(async () => {
  [chain, solana] = await Promise.all([startPreparedChain(5042002), startSolana()]);
  app = await balanceApp({
    // Half of the tokens are unknown to the service, which must ask the contracts.
    override: {
      "5042002": {
        tokens: chain.deployment.tokens.filter(({ symbol }) => ["USDC", "EURC"].includes(symbol)),
      },
    },
    allowedOrigins: [chain.url, solana.url],
  });
}, 60_000);
afterAll(async () => {
  app.close();
  await Promise.all([chain.stop(), solana.stop()]);
});

/** Writes all digits, as the contract wants. */
function written(amount: bigint, decimals: number): string {
  const [whole, fraction = ""] = formatUnits(amount, decimals).split(".");
  return decimals === 0 ? String(whole) : `${whole}.${fraction.padEnd(decimals, "0")}`;
}

test("200 random wallets and assets on an EVM chain equal direct calls", async () => {
  const random = seededRandom(2_026);
  const client = createPublicClient({ transport: http(chain.url) });
  const wallets = Array.from({ length: 40 }, () => toHex(randomBytes(20, random)));
  const { tokens } = chain.deployment;
  const holder = accounts.deployer.address;
  for (const wallet of wallets) {
    await chain.rpc.call("anvil_setBalance", [wallet, toHex(randomAmount(120, random))]);
    const token = pick(tokens, random);
    const args = [wallet, randomAmount(40, random)] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
    await chain.rpc.call("eth_sendTransaction", [{ from: holder, to: token.address, data }]);
  }
  await chain.rpc.call("evm_mine");

  let nonZero = 0;
  const wrong: string[] = [];
  for (let i = 0; i < EVM_CASES; i++) {
    const wallet: Hex = pick(wallets, random);
    const token = random() < 0.25 ? undefined : pick(tokens, random);
    const members = token ? { tokenAddress: token.address } : { balanceType: "native" };
    const request = { address: wallet, chainId: "Arc_Testnet", rpcUrl: chain.url, ...members };
    const contract = token && { address: token.address, abi: erc20Abi };
    const [answer, amount, decimals] = await Promise.all([
      app.ask(request),
      contract
        ? client.readContract({ ...contract, functionName: "balanceOf", args: [wallet] })
        : client.getBalance({ address: wallet }),
      contract ? client.readContract({ ...contract, functionName: "decimals" }) : 18,
    ]);
    if (amount > 0n) nonZero++;
    if (answer.body.balance !== written(amount, decimals)) {
      wrong.push(`${wallet} ${token?.symbol}: ${answer.text}, not ${amount}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(nonZero).toBeGreaterThan(EVM_CASES / 4);
}, 60_000);

/** Wallets with random lamports and, of several mints of both programs, none to three accounts. */
function populate(random: Random): { wallets: Address[]; mints: Address[] } {
  const { cluster } = solana;
  const randomAddress = () => getAddressDecoder().decode(randomBytes(32, random));
  const mints = Array.from({ length: 6 }, (_, index) => {
    const mint = randomAddress();
    const program = tokenPrograms[index % 2 === 0 ? "spl-token" : "spl-token-2022"];
    const decimals = Math.floor(random() * 12);
    const state = { mintAuthority: undefined, freezeAuthority: undefined, supply: 2n ** 64n - 1n };
    setData(cluster, mint, program, encodeMint({ ...state, decimals }));
    return { mint, program };
  });
  const known = { mint: solanaMints.usdc, program: tokenPrograms["spl-token"] };
  const wallets = Array.from({ length: 20 }, () => {
    const wallet = randomAddress();
    cluster.setAccount({
      address: wallet,
      lamports: lamports(1_000_000n + randomAmount(63, random)),
      programAddress: address("11111111111111111111111111111111"),
      executable: false,
      space: 0n,
      data: new Uint8Array(),
    });
    for (const { mint, program } of [...mints, known]) {
      for (let count = Math.floor(random() * 4); count > 0; count--) {
        const data = encodeTokenAccount(mint, wallet, randomAmount(64, random));
        setData(cluster, randomAddress(), program, data);
      }
    }
    return wallet;
  });
  return { wallets, mints: [known.mint, ...mints.map(({ mint }) => mint)] };
}

/** The balance as direct calls tell it, asked by program and not by mint. */
async function directBalance(wallet: Address, mint: Address | undefined): Promise<string> {
  if (!mint) {
    const text = await (
      await fetch(solana.url, {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBalance", params: [wallet] }),
      })
    ).text();
    return written(BigInt(/"value":(\d+)/.exec(text)![1]!), 9);
  }
  const { result } = await callNode(solana.url, "getTokenSupply", [mint]);
  let sum = 0n;
  for (const programId of Object.values(tokenPrograms)) {
    const params = [wallet, { programId }, { encoding: "jsonParsed" }];
    const found = (await callNode(solana.url, "getTokenAccountsByOwner", params)).result.value;
    for (const { account } of found as { account: { data: { parsed: { info: TokenInfo } } } }[]) {
      const { info } = account.data.parsed;
      if (info.mint === mint) sum += BigInt(info.tokenAmount.amount);
    }
  }
  return written(sum, result.value.decimals);
}
interface TokenInfo {
  readonly mint: string;
  readonly tokenAmount: { readonly amount: string };
}

test("50 random wallets and assets on Solana equal direct calls", async () => {
  const random = seededRandom(77);
  const { wallets, mints } = populate(random);
  const wrong: string[] = [];
  let beyondDouble = 0;
  for (let i = 0; i < SOLANA_CASES; i++) {
    const wallet = pick(wallets, random);
    const mint = random() < 0.25 ? undefined : pick(mints, random);
    const members = mint ? { tokenAddress: mint } : { balanceType: "native" };
    const request = { address: wallet, chainId: solanaDevnet.name, rpcUrl: solana.url, ...members };
    const [answer, direct] = await Promise.all([app.ask(request), directBalance(wallet, mint)]);
    if (answer.body.balance !== direct) wrong.push(`${wallet} ${mint}: ${answer.text}, ${direct}`);
    if (BigInt(direct.replace(".", "")) > 2n ** 53n) beyondDouble++;
  }
  expect(wrong).toEqual([]);
  expect(beyondDouble).toBeGreaterThan(5);
}, 60_000);

test("on Arc, USDC as native and as ERC-20 is one balance seen two ways", async () => {
  // Arc's ERC-20 face reads the native balance and cuts twelve digits: BALANCE(arg) / 10^12.
  const face = "0x3600000000000000000000000000000000000000";
  const code = "0x64e8d4a5100060043531045f5260205ff3";
  await chain.rpc.call("anvil_setCode", [face, code]);
  const wallet = "0x00000000000000000000000000000000C0FFEE77";
  await chain.rpc.call("anvil_setBalance", [wallet, toHex(1_500_000_000_000_000_123n)]);
  const arc = await balanceApp({ allowedOrigins: [chain.url], override: {} });
  const request = { address: wallet, chainId: "Arc_Testnet", rpcUrl: chain.url };
  expect((await arc.ask(request)).body).toEqual({ balance: "1.500000" });
  const native = await arc.ask({ ...request, balanceType: "native" });
  expect(native.body).toEqual({ balance: "1.500000000000000123" });
  arc.close();
});
