import {
  type Address,
  decodeEventLog,
  encodeFunctionData,
  type Hex,
  maxUint256,
  parseAbi,
  toEventSelector,
  toHex,
} from "viem";
import type { Random } from "../../src/lib/clock.ts";
import type { MarketPool, V3MarketPool } from "../../src/market/index.ts";
import { readArtifact } from "../../src/sandbox/deploy/artifacts.ts";
import { accounts, type PreparedChain } from "../support/sandbox.ts";

const erc20 = parseAbi(["function approve(address spender, uint256 amount) returns (bool)"]);
const GAS = toHex(5_000_000);
const GAS_PRICE = toHex(10n ** 12n);
const NEVER = 2n ** 40n;
const MAX_TICK = 887_272;

interface Transaction {
  readonly to: Hex;
  readonly data: Hex;
}

/** A position of the manager, which a burn takes from. */
interface Position {
  readonly tokenId: bigint;
}

/** Trades and provides at random, as the account that owns all liquidity. */
export class Trader {
  readonly #from = accounts.deployer.address;
  #positions: readonly Position[] = [];
  #manager: Address = "0x";

  private constructor(
    private readonly chain: PreparedChain,
    private readonly random: Random,
  ) {}

  /** A trader whose approvals are in place, and with the thin pools asked for created. */
  static async create(chain: PreparedChain, random: Random): Promise<Trader> {
    const trader = new Trader(chain, random);
    trader.#manager = await trader.#findManager();
    const router = trader.#venue("v3").router;
    await trader.block(
      chain.deployment.tokens.map(({ address }) => ({
        to: address,
        data: encodeFunctionData({
          abi: erc20,
          functionName: "approve",
          args: [router, maxUint256],
        }),
      })),
    );
    await trader.#countPositions();
    return trader;
  }

  /** Creates v3 pools at a random price with little in them: spacing 1, 10, 60 and 200. */
  async createThinPools(): Promise<void> {
    const { tokens } = this.chain.deployment;
    const [a, b] = [tokens[1]!.address, tokens[2]!.address].sort((x, y) => (x < y ? -1 : 1)) as [
      Address,
      Address,
    ];
    const [c, d] = [tokens[0]!.address, tokens[3]!.address].sort((x, y) => (x < y ? -1 : 1)) as [
      Address,
      Address,
    ];
    const specs = [
      { token0: a, token1: b, fee: 100, spacing: 1 },
      { token0: a, token1: b, fee: 10_000, spacing: 200 },
      { token0: c, token1: d, fee: 100, spacing: 1 },
    ];
    for (const { token0, token1, fee, spacing } of specs) {
      const sqrtPriceX96 = (1n << 96n) + BigInt(Math.floor(this.random() * 2 ** 52)) * (1n << 42n);
      await this.block([
        this.#managed("createAndInitializePoolIfNecessary", [token0, token1, fee, sqrtPriceX96]),
      ]);
      const near = Math.floor((2 * Math.log(Number(sqrtPriceX96) / 2 ** 96)) / Math.log(1.0001));
      const align = (tick: number) => Math.floor(tick / spacing) * spacing;
      const ranges = [
        [align(near - 40_000), align(near + 30_000)],
        [align(near - 300), align(near + 500) + spacing],
        [align(near + 20_000), align(near + 60_000)],
      ] as const;
      await this.block(
        ranges.map(([lower, upper], index) =>
          this.#mint({ token0, token1, feePips: fee }, lower, upper, 10n ** BigInt(3 + 2 * index)),
        ),
      );
    }
    await this.#countPositions();
  }

  /** Mines one block of one to four random swaps, mints and burns; some may revert. */
  async randomBlock(pools: readonly MarketPool[]): Promise<void> {
    const count = 1 + Math.floor(this.random() * 4);
    await this.block(
      Array.from({ length: count }, () => this.#randomTransaction(pools)),
      false,
    );
  }

  /** Mines a block with a mint around the pool's price. */
  async mintInRange({ tick, tickSpacing, ...pool }: V3MarketPool): Promise<void> {
    const near = Math.floor(tick / tickSpacing) * tickSpacing;
    const reach = 10 * tickSpacing;
    await this.block([this.#mint(pool, near - reach, near + reach, 10n ** 10n)]);
  }

  /** Mines a block with a swap. */
  async swap(pool: V3MarketPool): Promise<void> {
    await this.block([this.#swapV3(pool)]);
  }

  /** Mines mints until the pool has more ticks than one contract's code could hold. */
  async fillTicks({ tick, tickSpacing, ...pool }: V3MarketPool, positions: number): Promise<void> {
    const near = Math.floor(tick / tickSpacing);
    const mints = Array.from({ length: positions }, (_, index) => {
      const lower = (near - positions - 2 + index) * tickSpacing;
      return this.#mint(pool, lower, (near + 2 + index) * tickSpacing, 10n ** 8n);
    });
    const perBlock = 6;
    for (let from = 0; from < mints.length; from += perBlock) {
      await this.block(mints.slice(from, from + perBlock));
    }
  }

  /** Mines one block of these transactions. @param mustSucceed - throws when one reverted */
  async block(transactions: readonly Transaction[], mustSucceed = true): Promise<void> {
    const { rpc } = this.chain;
    const nonce = Number(await rpc.call("eth_getTransactionCount", [this.#from, "latest"]));
    await rpc.call("evm_setAutomine", [false]);
    const hashes = await rpc.batch(
      transactions.map(({ to, data }, index) => ({
        method: "eth_sendTransaction",
        params: [
          {
            from: this.#from,
            to,
            data,
            gas: GAS,
            gasPrice: GAS_PRICE,
            nonce: toHex(nonce + index),
          },
        ],
      })),
    );
    await rpc.call("evm_mine");
    await rpc.call("evm_setAutomine", [true]);
    if (!mustSucceed) return;
    for (const hash of hashes) {
      const receipt = (await rpc.call("eth_getTransactionReceipt", [hash])) as { status: string };
      if (receipt?.status !== "0x1") throw new Error("a transaction of the test reverted");
    }
  }

  #randomTransaction(pools: readonly MarketPool[]): Transaction {
    const pool = pools[Math.floor(this.random() * pools.length)]!;
    if (pool.kind === "v2") return this.#swapV2(pool);
    const choice = this.random();
    if (choice < 0.5) return this.#swapV3(pool);
    if (choice < 0.8) return this.#randomMint(pool);
    return this.#burn();
  }

  #amount(max: number): bigint {
    return BigInt(Math.floor(10 ** (this.random() * max))) + 1n;
  }

  #swapV2(pool: MarketPool): Transaction {
    const { router } = this.chain.deployment.venues.find(({ id }) => id === pool.venueId)!;
    const path = this.random() < 0.5 ? [pool.token0, pool.token1] : [pool.token1, pool.token0];
    const args = [this.#amount(12), 0n, path, this.#from, NEVER];
    const { abi } = readArtifact("v2Router");
    return {
      to: router,
      data: encodeFunctionData({ abi, functionName: "swapExactTokensForTokens", args }),
    };
  }

  #swapV3(pool: V3MarketPool): Transaction {
    const [tokenIn, tokenOut] =
      this.random() < 0.5 ? [pool.token0, pool.token1] : [pool.token1, pool.token0];
    const params = {
      tokenIn,
      tokenOut,
      fee: pool.feePips,
      recipient: this.#from,
      deadline: NEVER,
      amountIn: this.#amount(pool.liquidity < 10n ** 10n ? 5 : 14),
      amountOutMinimum: 0n,
      sqrtPriceLimitX96: 0n,
    };
    const { abi } = readArtifact("v3Router");
    return {
      to: this.#venue("v3").router,
      data: encodeFunctionData({ abi, functionName: "exactInputSingle", args: [params] }),
    };
  }

  #randomMint(pool: V3MarketPool): Transaction {
    const { tickSpacing, tick } = pool;
    const reach = tickSpacing * Math.ceil(10 ** (this.random() * 3));
    const align = (at: number) =>
      Math.max(
        -Math.floor(MAX_TICK / tickSpacing),
        Math.min(Math.floor(MAX_TICK / tickSpacing), Math.floor(at / tickSpacing)),
      ) * tickSpacing;
    const lower = align(tick + (this.random() - 0.7) * reach);
    const upper = align(lower + tickSpacing + this.random() * reach);
    return this.#mint(pool, lower, Math.max(upper, lower + tickSpacing), this.#amount(12));
  }

  #mint(
    pool: { readonly token0: Address; readonly token1: Address; readonly feePips: number },
    tickLower: number,
    tickUpper: number,
    amount: bigint,
  ): Transaction {
    return this.#managed("mint", [
      {
        token0: pool.token0,
        token1: pool.token1,
        fee: pool.feePips,
        tickLower,
        tickUpper,
        amount0Desired: amount,
        amount1Desired: amount,
        amount0Min: 0n,
        amount1Min: 0n,
        recipient: this.#from,
        deadline: NEVER,
      },
    ]);
  }

  /** Takes all or part of a random position out; a position that is empty already reverts. */
  #burn(): Transaction {
    const position = this.#positions[Math.floor(this.random() * this.#positions.length)]!;
    const liquidity = this.random() < 0.5 ? this.#amount(8) : undefined;
    return this.#managed("decreaseLiquidity", [
      {
        tokenId: position.tokenId,
        liquidity: liquidity ?? this.#liquidityOf.get(position.tokenId) ?? 1n,
        amount0Min: 0n,
        amount1Min: 0n,
        deadline: NEVER,
      },
    ]);
  }

  readonly #liquidityOf = new Map<bigint, bigint>();

  async #countPositions(): Promise<void> {
    const { rpc } = this.chain;
    const { abi } = readArtifact("v3Positions");
    const selector = toEventSelector(
      "IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
    );
    const logs = (await rpc.call("eth_getLogs", [
      { fromBlock: "0x0", toBlock: "latest", address: this.#manager, topics: [selector] },
    ])) as { data: Hex; topics: [Hex, ...Hex[]] }[];
    for (const { data, topics } of logs) {
      const { args } = decodeEventLog({ abi, data, topics }) as unknown as {
        args: { tokenId: bigint; liquidity: bigint };
      };
      this.#liquidityOf.set(args.tokenId, args.liquidity);
    }
    this.#positions = [...this.#liquidityOf.keys()].map((tokenId) => ({ tokenId }));
  }

  #managed(functionName: string, args: readonly unknown[]): Transaction {
    const { abi } = readArtifact("v3Positions");
    return { to: this.#manager, data: encodeFunctionData({ abi, functionName, args: [...args] }) };
  }

  #venue(type: "v2" | "v3") {
    return this.chain.deployment.venues.find((venue) => venue.type === type)!;
  }

  /** The position manager is who pools name as the owner of their positions. */
  async #findManager(): Promise<Address> {
    const selector = toEventSelector(
      "Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
    );
    const [log] = (await this.chain.rpc.call("eth_getLogs", [
      { fromBlock: "0x0", toBlock: "latest", topics: [selector] },
    ])) as { topics: Hex[] }[];
    return `0x${log!.topics[1]!.slice(26)}`;
  }
}
