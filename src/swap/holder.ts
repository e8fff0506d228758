import type { Address, PublicClient } from "viem";
import type { Chain } from "../chains/index.ts";
import { candidatePools, checksummed } from "../market/index.ts";
import { erc20Abi } from "./abi.ts";
import { ReadBatch } from "./multicall.ts";
import type { PricedRoute } from "./quoteSource.ts";

/** Who has a token, and how much. */
export interface Holder {
  readonly address: Address;
  readonly balance: bigint;
}

/**
 * The pool that has most of a token, of those whose swaps do not change when it has less: pairs on
 * the route count what they hold, v3 pools do not.
 *
 * @returns undefined when none has the amount
 * @throws ApiError `UPSTREAM_UNREACHABLE`, `UNSUPPORTED_CHAIN`
 */
export async function findHolder(
  client: PublicClient,
  chain: Chain,
  { token, amount }: { readonly token: Address; readonly amount: bigint },
  route: PricedRoute,
): Promise<Holder | undefined> {
  const others = new Set(
    [...chain.tokens.map(({ address }) => checksummed(address)), ...tokensOf(route)].filter(
      (other) => other !== token,
    ),
  );
  const onRoute = new Set(route.hops.map(({ pool }) => pool));
  const pools = [...others]
    .flatMap((other) => candidatePools(chain.venues, token, other))
    .filter(({ kind, address }) => kind === "v3" || !onRoute.has(address));
  const batch = new ReadBatch();
  const balances = pools.map(({ address }) =>
    batch.add({ address: token, abi: erc20Abi, functionName: "balanceOf", args: [address] }),
  );
  await batch.send(client, chain);
  let most: Holder | undefined;
  for (const [index, { address }] of pools.entries()) {
    const balance = balances[index]?.() ?? 0n;
    if (balance >= amount && balance > (most?.balance ?? 0n)) most = { address, balance };
  }
  return most;
}

function tokensOf({ hops }: PricedRoute): Address[] {
  return hops.flatMap(({ tokenIn, tokenOut }) => [tokenIn, tokenOut]);
}
