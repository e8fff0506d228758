import { afterAll, beforeAll, expect, test } from "bun:test";
import { createPublicClient, erc20Abi, http, parseAbi, type PublicClient } from "viem";
import { CHAIN_IDS } from "../../src/sandbox/deploy/state.ts";
import { accounts, type PreparedChain, startPreparedChain } from "../support/sandbox.ts";

const quoterAbi = parseAbi([
  "function quoteExactInputSingle((address tokenIn, address tokenOut, uint256 amountIn, uint24 fee, uint160 sqrtPriceLimitX96)) returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 ticksCrossed, uint256 gasEstimate)",
]);
const v2Abi = parseAbi([
  "function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[])",
  "function allPairsLength() view returns (uint256)",
]);
const v3Abi = parseAbi([
  "event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)",
]);

let chains: PreparedChain[];
const clients = new Map<number, PublicClient>();

beforeAll(async () => {
  chains = await Promise.all(CHAIN_IDS.map((chainId) => startPreparedChain(chainId)));
  for (const chain of chains) {
    clients.set(chain.chainId, createPublicClient({ transport: http(chain.url) }));
  }
}, 60_000);

afterAll(async () => {
  await Promise.all(chains.map((chain) => chain.stop()));
});

const clientOf = (chain: PreparedChain) => clients.get(chain.chainId)!;
const tokenOf = (chain: PreparedChain, symbol: string) =>
  chain.deployment.tokens.find((token) => token.symbol === symbol)!;
const venueOf = (chain: PreparedChain, id: string) =>
  chain.deployment.venues.find((venue) => venue.id === id)!;

test("every chain has the same addresses and code at each of them, but its own CCTP domain", async () => {
  for (const chain of chains) {
    const { cctp, ...rest } = chain.deployment;
    const { cctp: firstCctp, ...first } = chains[0]!.deployment;
    expect(rest).toEqual(first);
    expect({ ...cctp, domain: 0 }).toEqual({ ...firstCctp, domain: 0 });
    const { tokens, venues, executor, multicall3 } = chain.deployment;
    const addresses = [
      executor,
      multicall3,
      ...tokens.map(({ address }) => address),
      ...venues.flatMap(({ factory, router, quoter }) => [factory, router, quoter]),
    ];
    for (const address of addresses) {
      const code = await clientOf(chain).getCode({ address });
      expect(code?.length ?? 0).toBeGreaterThan(100);
    }
  }
});

test("a chain has three venues with at least 20 pools", async () => {
  for (const chain of chains) {
    const client = clientOf(chain);
    const created = await client.getContractEvents({
      address: venueOf(chain, "venue-a").factory,
      abi: v3Abi,
      fromBlock: 0n,
    });
    let pools = created.length;
    for (const id of ["venue-b", "native-dex"]) {
      const length = await client.readContract({
        address: venueOf(chain, id).factory,
        abi: v2Abi,
        functionName: "allPairsLength",
      });
      expect(length).toBeGreaterThan(0n);
      pools += Number(length);
    }
    expect(created.length).toBeGreaterThan(0);
    expect(pools).toBeGreaterThanOrEqual(20);
  }
});

/** Best output of one venue for USDC to EURC, asked from its own quoter. */
async function bestOutput(chain: PreparedChain, id: string, amountIn: bigint): Promise<bigint> {
  const client = clientOf(chain);
  const venue = venueOf(chain, id);
  const [tokenIn, tokenOut] = [tokenOf(chain, "USDC").address, tokenOf(chain, "EURC").address];
  if (venue.type === "v2") {
    const amounts = await client.readContract({
      address: venue.quoter,
      abi: v2Abi,
      functionName: "getAmountsOut",
      args: [amountIn, [tokenIn, tokenOut]],
    });
    return amounts[1]!;
  }
  const outputs: bigint[] = [];
  for (const fee of [500, 3_000, 10_000]) {
    const { result } = await client.simulateContract({
      address: venue.quoter,
      abi: quoterAbi,
      functionName: "quoteExactInputSingle",
      args: [{ tokenIn, tokenOut, amountIn, fee, sqrtPriceLimitX96: 0n }],
    });
    outputs.push(result[0]);
  }
  return outputs.reduce((best, output) => (output > best ? output : best));
}

test("each venue is the best one for USDC to EURC at some size", async () => {
  const winners: string[] = [];
  for (const usd of [100, 100_000, 6_000_000]) {
    const ranked: [bigint, string][] = [];
    for (const { id } of chains[0]!.deployment.venues) {
      ranked.push([await bestOutput(chains[0]!, id, BigInt(usd) * 1_000_000n), id]);
    }
    ranked.sort(([a], [b]) => (a < b ? 1 : -1));
    winners.push(ranked[0]![1]);
  }
  expect(winners).toEqual(["venue-b", "venue-a", "native-dex"]);
});

test("every user holds native and every token on every chain", async () => {
  for (const chain of chains) {
    expect(accounts.wallets.length).toBeGreaterThanOrEqual(3);
    for (const { address } of [...accounts.wallets, accounts.operator]) {
      expect(await clientOf(chain).getBalance({ address })).toBeGreaterThan(10n ** 20n);
      for (const token of chain.deployment.tokens) {
        const balance = await clientOf(chain).readContract({
          address: token.address,
          abi: erc20Abi,
          functionName: "balanceOf",
          args: [address],
        });
        expect(balance).toBeGreaterThanOrEqual(1_000n * 10n ** BigInt(token.decimals));
      }
    }
  }
});

test("a chain loaded from disk shows the present time", async () => {
  const block = await clientOf(chains[0]!).getBlock();
  expect(Math.abs(Number(block.timestamp) - Date.now() / 1_000)).toBeLessThan(30);
});
