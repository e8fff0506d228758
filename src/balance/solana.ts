import type { Chain } from "../chains/index.ts";
import { isSolanaAddress } from "../lib/base58.ts";
import { member } from "../lib/exactJson.ts";
import { invalidField, type Node, NodeRefusal, unreachable } from "./node.ts";
import type { Balance, BalanceQuery } from "./query.ts";

/** JSON-RPC's code for invalid params; nodes answer it for a mint that is none. */
const INVALID_PARAMS = -32_602;
const CONFIRMED = { commitment: "confirmed" };

/**
 * Balance of a Solana wallet: lamports, or the sum of its accounts of one mint. Asking by mint
 * covers both token programs, since a mint belongs to exactly one of them.
 * @throws ApiError `INVALID_FIELD` for addresses that are none and mints the cluster lacks
 */
export async function solanaBalance(
  chain: Chain,
  query: BalanceQuery,
  node: Node,
): Promise<Balance> {
  const { address, tokenAddress: mint } = query;
  checkAddress("address", address);
  if (mint !== undefined) checkAddress("tokenAddress", mint);
  return mint === undefined ? lamports(chain, address, node) : tokens(chain, address, mint, node);
}

function checkAddress(field: string, text: string): void {
  if (!isSolanaAddress(text)) throw invalidField(field, "a base58 address of 32 bytes");
}

async function lamports(chain: Chain, address: string, node: Node): Promise<Balance> {
  const result = await node.call("getBalance", [address, CONFIRMED]);
  return { amountAtomic: parseU64(member(result, "value")), decimals: chain.native.decimals };
}

async function tokens(chain: Chain, owner: string, mint: string, node: Node): Promise<Balance> {
  const known = chain.tokens.find((token) => token.address === mint);
  const options = { ...CONFIRMED, encoding: "jsonParsed" };
  try {
    const [accounts, decimals] = await Promise.all([
      node.call("getTokenAccountsByOwner", [owner, { mint }, options]),
      known?.decimals ?? readDecimals(mint, node),
    ]);
    return { amountAtomic: sumAccounts(member(accounts, "value"), mint), decimals };
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    if (error.code !== INVALID_PARAMS) throw unreachable();
    throw invalidField("tokenAddress", `${mint} is no token mint on ${chain.name}`);
  }
}

async function readDecimals(mint: string, node: Node): Promise<number> {
  const supply = await node.call("getTokenSupply", [mint, CONFIRMED]);
  const decimals = member(supply, "value", "decimals");
  if (typeof decimals !== "string" || !/^[0-9]{1,3}$/.test(decimals)) throw unreachable();
  return Number(decimals);
}

function sumAccounts(accounts: unknown, mint: string): bigint {
  if (!Array.isArray(accounts)) throw unreachable();
  let sum = 0n;
  for (const account of accounts) {
    const info = member(account, "account", "data", "parsed", "info");
    if (member(info, "mint") !== mint) throw unreachable();
    sum += parseU64(member(info, "tokenAmount", "amount"));
  }
  return sum;
}

/** Lamports come as JSON numbers and token amounts as strings; both arrive here as text. */
function parseU64(text: unknown): bigint {
  if (typeof text !== "string" || !/^[0-9]{1,20}$/.test(text)) throw unreachable();
  return BigInt(text);
}
