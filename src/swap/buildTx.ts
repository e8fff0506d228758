import type { PublicClient } from "viem";
import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import { planApprovals } from "./approval.ts";
import type { ChainClients } from "./clients.ts";
import { encodeSwap, type Executor, type FindExecutor } from "./executor.ts";
import { toGasLimit } from "./gasLimit.ts";
import type { BuildTxRequest, BuiltTx } from "./model.ts";
import { type Order, readOrder } from "./order.ts";
import type { PoolQuote, QuoteSource } from "./quoteSource.ts";
import { rankQuotes } from "./rank.ts";
import { estimateSwap } from "./simulate.ts";
import { minimumOut, platformFee, shortfallBps } from "./slippage.ts";
import type { FindTokenSlots } from "./tokenSlots.ts";
import { readWallet, type WalletState } from "./wallet.ts";

export interface BuildTxDependencies {
  readonly registry: ChainRegistry;
  readonly source: QuoteSource;
  readonly clients: ChainClients;
  readonly findExecutor: FindExecutor;
  readonly findSlots: FindTokenSlots;
  readonly clock: Clock;
  readonly config: Config["swap"];
}

/**
 * Builds the unsigned transactions of a swap: the approval if one is needed, and the executor
 * call. The quote is checked, priced again, and the result simulated, before anything is returned.
 * @throws ApiError those of {@link readOrder}, `EXECUTOR_NOT_DEPLOYED`, `QUOTE_EXPIRED`,
 *   `SIMULATION_FAILED`, `UPSTREAM_UNREACHABLE`
 */
export async function buildSwapTx(
  deps: BuildTxDependencies,
  body: BuildTxRequest,
): Promise<BuiltTx> {
  const order = readOrder(deps.registry, deps.config, body);
  const { chain, tokenIn, amountIn } = order.trade;
  const client = deps.clients(chain.id);
  const executor = await deps.findExecutor(chain);
  const [{ quotes }, wallet] = await Promise.all([
    deps.source.quote(order.trade),
    readWallet(client, chain, { token: tokenIn, owner: order.user, spender: executor.address }),
  ]);

  const route = pickRoute(order, quotes);
  const minAmountOut = agreeOnMinimum(deps.config, order, route);
  const data = encodeSwap(executor, {
    ...order.trade,
    minAmountOut,
    deadline: deadlineOf(deps, wallet),
    platformFeeBps: deps.config.platformFeeBps,
    pool: route,
  });
  const [approvals, gas] = await Promise.all([
    planOrderApprovals(deps, client, order, executor, wallet),
    estimateSwap(client, () => deps.findSlots(client, chain.id, tokenIn), {
      token: tokenIn,
      owner: order.user,
      executor: executor.address,
      amountIn,
      wallet,
      data,
    }),
  ]);
  return {
    ...approvals,
    swap: {
      to: executor.address,
      data,
      value: "0",
      from: order.user,
      gasLimit: toGasLimit(gas ?? route.gas),
      chainId: chain.id,
    },
  };
}

/** The pool the quote names, or the best one of its venue. */
function pickRoute({ pool, trade }: Order, quotes: readonly PoolQuote[]): PoolQuote {
  const route = pool
    ? quotes.find((quote) => quote.address === pool.address)
    : rankQuotes(quotes)[0];
  if (route) return route;
  const where = pool ? `pool ${pool.address}` : trade.venues.map(({ id }) => id).join(", ");
  throw new ApiError("QUOTE_EXPIRED", `Quote no longer holds: ${where} cannot fill the amount`);
}

/**
 * The minimum to enforce: the quote's, or for a quote without one that of the default slippage
 * from the better of the quoted and the present output.
 */
function agreeOnMinimum(config: Config["swap"], order: Order, route: PoolQuote): bigint {
  const presentOut = route.amountOut - platformFee(route.amountOut, config.platformFeeBps);
  const wanted = order.minOut ?? minimumOut(order.quotedOut, config.defaultSlippageBps);
  if (presentOut < wanted) {
    throw new ApiError(
      "QUOTE_EXPIRED",
      `Quote no longer holds: the route now pays ${presentOut}, ` +
        `${shortfallBps(wanted, presentOut)} bps below the minimum of ${wanted}`,
    );
  }
  if (order.minOut !== undefined || presentOut <= order.quotedOut) return wanted;
  return minimumOut(presentOut, config.defaultSlippageBps);
}

/** Counted from chain time, or ours where the last block is old: the next one will be of now. */
function deadlineOf({ clock, config }: BuildTxDependencies, wallet: WalletState): bigint {
  const now = BigInt(Math.floor(clock.now() / 1000));
  const start = wallet.timestamp > now ? wallet.timestamp : now;
  return start + BigInt(config.deadlineSeconds);
}

function planOrderApprovals(
  deps: BuildTxDependencies,
  client: PublicClient,
  { trade, user }: Order,
  executor: Executor,
  wallet: WalletState,
) {
  const need = {
    token: trade.tokenIn,
    owner: user,
    spender: executor.address,
    amount: trade.amountIn,
    allowance: wallet.allowance,
  };
  return planApprovals(client, need, () => deps.findSlots(client, trade.chain.id, trade.tokenIn));
}
