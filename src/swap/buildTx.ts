import type { Hex } from "viem";
import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../lib/clock.ts";
import { ApiError } from "../lib/errors.ts";
import { planApprovals } from "./approval.ts";
import type { ChainClients } from "./clients.ts";
import { encodeSwap, type Executor, type FindExecutor } from "./executor.ts";
import { toGasLimit } from "./gasLimit.ts";
import type { BuildTxRequest, BuiltTx } from "./model.ts";
import { NATIVE } from "./native.ts";
import { type Order, readOrder, refuseContracts } from "./order.ts";
import { invalidQuote } from "./orderHops.ts";
import type { PricedRoute, QuoteSource } from "./quoteSource.ts";
import { estimateSwap } from "./simulate.ts";
import { minimumOut, platformFee, shortfallBps } from "./slippage.ts";
import type { FindTokenSlots } from "./tokenSlots.ts";
import { readWallet, type WalletState } from "./wallet.ts";

/** State to route with: confirmed after the request came. */
const NEWEST = { maxAgeMs: 0 };

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
 * call. The quote is checked, priced again, and the result simulated, before anything is returned;
 * the one swap that can't be is that of a wallet without the funds yet, in a token whose storage
 * layout is unknown.
 * @throws ApiError those of {@link readOrder}, `EXECUTOR_NOT_DEPLOYED`, `QUOTE_EXPIRED`,
 *   `SIMULATION_FAILED`, `UPSTREAM_UNREACHABLE`
 */
export async function buildSwapTx(
  deps: BuildTxDependencies,
  body: BuildTxRequest,
): Promise<BuiltTx> {
  const order = readOrder(deps.registry, deps.config, body);
  const { chain, inputToken, amountIn } = order.trade;
  const client = deps.clients(chain.id);
  const executor = await deps.findExecutor(chain);
  const means = { token: inputToken, owner: order.user, spender: executor.address };
  const [route, wallet] = await Promise.all([
    routeNow(deps.source, order),
    readWallet(client, chain, means),
  ]);

  const data = encodeOrder(deps, order, { executor, route, wallet });
  const value = inputToken === NATIVE ? amountIn : 0n;
  const owner = order.user;
  const findSlots = () => deps.findSlots(client, chain.id, inputToken);
  const need = { ...means, amount: amountIn, allowance: wallet.allowance };
  const planned = planApprovals(client, need, findSlots);
  const [approvals, gas] = await Promise.all([
    planned,
    estimateSwap(
      client,
      findSlots,
      {
        chain,
        route,
        token: inputToken,
        owner,
        executor: executor.address,
        amountIn,
        wallet,
        data,
        value,
      },
      planned,
    ),
  ]);
  const swap = {
    to: executor.address,
    data,
    value: value.toString(),
    from: order.user,
    gasLimit: toGasLimit(gas, route.unseenGas),
    chainId: chain.id,
  };
  return { ...approvals, swap };
}

/** The quote's hops at present prices, or the best route of its venue. */
async function routeNow(source: QuoteSource, { trade, hops }: Order): Promise<PricedRoute> {
  const route = hops
    ? await source.price(trade, hops)
    : (await source.quote(trade, NEWEST)).routes[0];
  if (route) return route;
  const pools = hops?.map(({ pool }) => pool.address);
  const where = pools
    ? `${pools.length > 1 ? "pools" : "pool"} ${pools.join(", ")}`
    : trade.venues.map(({ id }) => id).join(", ");
  throw new ApiError("QUOTE_EXPIRED", `Quote no longer holds: ${where} cannot fill the amount`);
}

/**
 * The minimum to enforce: the quote's, or for a quote without one that of the default slippage
 * from the better of the quoted and the present output.
 */
function agreeOnMinimum(config: Config["swap"], order: Order, route: PricedRoute): bigint {
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

/** Calldata of the order at present prices, once it is known to hold. */
function encodeOrder(
  deps: BuildTxDependencies,
  order: Order,
  now: { executor: Executor; route: PricedRoute; wallet: WalletState },
): Hex {
  const { executor, route, wallet } = now;
  refuseContracts(order.user, poolsOf(route));
  const minAmountOut = agreeOnMinimum(deps.config, order, route);
  requireAgreement(deps.config, order);
  return encodeSwap(executor, {
    ...order.trade,
    minAmountOut,
    deadline: deadlineOf(deps, wallet),
    platformFeeBps: deps.config.platformFeeBps,
    hops: route.hops,
  });
}

function poolsOf({ hops }: PricedRoute): string[] {
  return hops.map(({ pool }) => pool);
}

/** A quote whose own figures contradict each other was changed. */
function requireAgreement({ platformFeeBps }: Config["swap"], { hopsOut, quotedOut }: Order): void {
  if (hopsOut === undefined || hopsOut - platformFee(hopsOut, platformFeeBps) === quotedOut) return;
  throw invalidQuote("the hops' outputs do not add up to outputAmount");
}

/** Counted from chain time, or ours where the last block is old: the next one will be of now. */
function deadlineOf({ clock, config }: BuildTxDependencies, wallet: WalletState): bigint {
  const now = BigInt(Math.floor(clock.now() / 1000));
  const start = wallet.timestamp > now ? wallet.timestamp : now;
  return start + BigInt(config.deadlineSeconds);
}
