import { Elysia } from "elysia";
import {
  type Address,
  createPublicClient,
  createWalletClient,
  erc20Abi,
  type Hex,
  http,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createAccess, errorHandler, gate, UNLIMITED_WINDOW } from "../../src/access/index.ts";
import { type ChainRegistry, createRegistry } from "../../src/chains/index.ts";
import { type Config, loadConfig, type NetworkData } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createMarket, type Market } from "../../src/market/index.ts";
import {
  createMarketReader,
  createSwapService,
  swapRoutes,
  type SwapService,
} from "../../src/swap/index.ts";
import { NATIVE } from "../../src/swap/native.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { createUpstreamPool } from "../../src/upstream/index.ts";
import { accounts, type PreparedChain, startPreparedChain } from "../support/sandbox.ts";

export const CHAIN_ID = 5042;

/** A private chain and the swap feature on top of it. */
export interface SwapWorld {
  readonly chain: PreparedChain;
  readonly registry: ChainRegistry;
  readonly config: Config;
  readonly service: SwapService;
  readonly market: Market;
  readonly client: ReturnType<typeof createPublicClient>;
  token(symbol: string): Address;
  /** Carries the service's view of the pools to the chain's newest block. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a private chain and wires the swap feature to it.
 * @param swap - replaces members of the configuration
 * @param network - replaces members of the chain's registry entry
 */
export async function startSwapWorld(
  swap: Partial<Config["swap"]> = {},
  network: Partial<NetworkData> = {},
): Promise<SwapWorld> {
  const chain = await startPreparedChain(CHAIN_ID);
  const { tokens, venues, executor, multicall3, wrappedNative } = chain.deployment;
  const base = loadConfig({});
  const config = { ...base, swap: { ...base.swap, ...swap } };
  const registry = createRegistry({
    useDefaultUpstreams: false,
    override: {
      [CHAIN_ID]: {
        upstreams: [{ url: chain.url }],
        tokens: [...tokens],
        venues: [...venues, { ...venues[1]!, id: "retired-dex", enabled: false }],
        executor,
        multicall3,
        wrappedNative,
        ...network,
      },
    },
  });
  const upstream = createUpstreamPool({ registry });
  const market = createMarket({
    registry,
    reader: createMarketReader(upstream),
    clock: systemClock,
  });
  const service = createSwapService({
    registry,
    upstream,
    market,
    config: config.swap,
    clock: systemClock,
  });
  return {
    chain,
    registry,
    config,
    service,
    market,
    refresh: async () => void (await market.snapshot(CHAIN_ID, { maxAgeMs: 0 })),
    client: createPublicClient({ transport: http(chain.url), cacheTime: 0 }),
    async stop() {
      await market.stop();
      upstream.close();
      await chain.stop();
    },
    token: (symbol) => tokens.find((token) => token.symbol === symbol)!.address,
  };
}

export const wallet = accounts.wallets[0]!;

/** Signs and sends an unsigned transaction as a caller would; gives its receipt. */
export async function send(
  world: SwapWorld,
  tx: { to: string; data: string; gasLimit: string; value?: string },
  account = wallet,
) {
  const signer = createWalletClient({
    account: privateKeyToAccount(account.privateKey),
    transport: http(world.chain.url),
  });
  const hash = await signer.sendTransaction({
    chain: null,
    to: tx.to as Address,
    data: tx.data as Hex,
    gas: BigInt(tx.gasLimit),
    value: BigInt(tx.value ?? "0"),
  });
  return world.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
}

/** What an account has of a token, or of the native asset. */
export function balanceOf(world: SwapWorld, token: string, owner: Address = wallet.address) {
  if (token === NATIVE) return world.client.getBalance({ address: owner });
  return world.client.readContract({
    address: token as Address,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner],
  });
}

/** The three endpoints behind the real gate, and a key for them. */
export async function startSwapApi(world: SwapWorld) {
  const database = openDatabase(":memory:");
  const access = await createAccess(database, world.config.access);
  const { secret } = await access.keys.create(
    { environment: "test", scopes: ["read", "swaps"], windowLimit: UNLIMITED_WINDOW },
    "test",
  );
  const app = new Elysia()
    .onError(errorHandler(silentLogger))
    .use(gate(access, world.config))
    .use(swapRoutes(world.service, { maxBodyBytes: 65_536 }));
  app.listen({ port: 0, hostname: "127.0.0.1" });
  const origin = `http://127.0.0.1:${app.server?.port}`;
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { "x-api-key": secret, "content-type": "application/json" };
    const response = await fetch(`${origin}/api/public/swap/${path}`, { headers, ...init });
    return {
      status: response.status,
      code: response.headers.get("x-error-code"),
      cost: response.headers.get("x-cu-cost"),
      body: await response.json(),
    };
  };
  return {
    post: (path: string, body: unknown) =>
      ask(path, { method: "POST", body: JSON.stringify(body) }),
    get: (path: string) => ask(path),
    origin,
    async stop() {
      await app.stop(true);
      database.close();
    },
  };
}
