import { type Address, encodeFunctionData, erc20Abi, isAddress } from "viem";
import type { Chain } from "../chains/index.ts";
import { findToken } from "../chains/index.ts";
import { invalidField, type Node, NodeRefusal, unreachable } from "./node.ts";
import type { Balance, BalanceQuery } from "./query.ts";

const MAX_UINT8 = 255n;

/**
 * Balance of an EVM wallet in the native asset or an ERC-20 token, at the latest block.
 * @throws ApiError `INVALID_FIELD` for addresses that are none and tokens that are no ERC-20
 */
export async function evmBalance(chain: Chain, query: BalanceQuery, node: Node): Promise<Balance> {
  const wallet = parseAddress("address", query.address);
  if (query.tokenAddress === undefined) {
    const amountAtomic = parseQuantity(await node.call("eth_getBalance", [wallet, "latest"]));
    return { amountAtomic, decimals: chain.native.decimals };
  }
  const token = parseAddress("tokenAddress", query.tokenAddress);
  const known = findToken(chain, token);
  const [amountAtomic, decimals] = await Promise.all([
    readWord(chain, token, node, balanceOfData(wallet)),
    known?.decimals ?? readDecimals(chain, token, node),
  ]);
  return { amountAtomic, decimals };
}

function parseAddress(field: string, text: string): Address {
  if (!isAddress(text, { strict: false })) throw invalidField(field, "a 0x address of 20 bytes");
  return text;
}

function balanceOfData(wallet: Address): string {
  // A checksum that callers got wrong is theirs; in one casing there is none to check.
  const args = [wallet.toLowerCase() as Address] as const;
  return encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args });
}

async function readDecimals(chain: Chain, token: Address, node: Node): Promise<number> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "decimals" });
  const decimals = await readWord(chain, token, node, data);
  if (decimals > MAX_UINT8) throw notErc20(chain, token);
  return Number(decimals);
}

/** Calls a view function that returns one unsigned word. Longer answers are read as ABI does. */
async function readWord(chain: Chain, token: Address, node: Node, data: string): Promise<bigint> {
  let answer: unknown;
  try {
    answer = await node.call("eth_call", [{ to: token, data }, "latest"]);
  } catch (error) {
    if (error instanceof NodeRefusal) throw await explain(chain, token, node);
    throw error;
  }
  if (typeof answer !== "string" || !/^0x[0-9a-fA-F]*$/.test(answer)) throw unreachable();
  // No code, a fallback that returns nothing, or less than a word: decoding would make up zeros.
  if (answer.length < 2 + 64) throw await explain(chain, token, node);
  return BigInt(answer.slice(0, 2 + 64));
}

/** Why a contract did not answer as an ERC-20 token. */
async function explain(chain: Chain, token: Address, node: Node) {
  const code = await node.call("eth_getCode", [token, "latest"]);
  const empty = code === "0x" || code === "0x0";
  return empty
    ? invalidField("tokenAddress", `${token} is no contract on ${chain.name}`)
    : notErc20(chain, token);
}

function notErc20(chain: Chain, token: Address) {
  const rule = `${token} on ${chain.name} does not answer balanceOf and decimals as ERC-20 does`;
  return invalidField("tokenAddress", rule);
}

function parseQuantity(result: unknown): bigint {
  if (typeof result !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(result)) throw unreachable();
  return BigInt(result);
}
