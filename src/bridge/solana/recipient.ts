import { address } from "@solana/kit";
import { ApiError } from "../../lib/errors.ts";
import { member } from "../../lib/exactJson.ts";
import type { MintTarget } from "../draft.ts";
import { addressWord } from "../words.ts";
import { associatedTokenAccount, programs } from "./addresses.ts";
import type { SolanaCall } from "./rpc.ts";

/**
 * Where a wallet's USDC goes: its associated token account, never the wallet itself, which CCTP
 * could not mint to.
 * @throws ApiError `INVALID_RECIPIENT` when the address is no wallet but an account of a program
 */
export async function solanaMintTarget(
  call: SolanaCall,
  recipient: string,
  usdc: string,
): Promise<MintTarget> {
  const account = await associatedTokenAccount(address(recipient), address(usdc));
  const options = { commitment: "confirmed", encoding: "base64" };
  const found = await call("getMultipleAccounts", [[recipient, account], options]);
  const ownerOf = (index: number) => member(found, "value", index, "owner");
  const walletOwner = ownerOf(0);
  if (walletOwner !== undefined && walletOwner !== programs.system) {
    throw new ApiError("INVALID_RECIPIENT", "Invalid recipientAddress: an account, not a wallet");
  }
  return { word: addressWord("solana", account), needsSetup: ownerOf(1) !== programs.token };
}
