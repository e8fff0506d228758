import type { Hex } from "viem";
import { readArtifact } from "./artifacts.ts";
import type { V2Pool } from "./liquidity.ts";
import { approveAll, atomicOf, type SandboxTokens } from "./tokens.ts";
import type { TransactionList } from "./transactions.ts";

/** Addresses of one v2 venue. */
export interface V2Venue {
  readonly factory: Hex;
  readonly router: Hex;
}

const NEVER = 2n ** 40n;

/** Deploys a v2 factory with its router and fills the pools. */
export function deployUniswapV2(
  list: TransactionList,
  name: string,
  tokens: SandboxTokens,
  provider: Hex,
  pools: readonly V2Pool[],
): V2Venue {
  const factory = list.deploy(`${name} factory`, readArtifact("v2Factory"), [provider]);
  const weth = tokens.WETH.contract.address;
  const router = list.deploy(`${name} router`, readArtifact("v2Router"), [factory.address, weth]);
  approveAll(list, tokens, router.address);
  for (const { pair, usdPerSide, discountBps } of pools) {
    const [first, second] = [tokens[pair[0]], tokens[pair[1]]];
    const amounts = [atomicOf(first, usdPerSide), atomicOf(second, usdPerSide, discountBps)];
    const addresses = [first.contract.address, second.contract.address];
    list.call(router, "addLiquidity", [...addresses, ...amounts, 0n, 0n, provider, NEVER]);
  }
  return { factory: factory.address, router: router.address };
}
