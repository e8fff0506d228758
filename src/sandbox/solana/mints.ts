import { address } from "@solana/kit";
import { solanaDevnet } from "../../chains/networks/solana.ts";

/** The mints every local cluster has. */
export const solanaMints = {
  /** Where USDC is on devnet, kept by the SPL Token program. */
  usdc: address(solanaDevnet.tokens[0]?.address ?? ""),
  /** Kept by Token-2022; the address carries no meaning. */
  token2022: address("8CKwpwM4dCqDNgrPo6viCreNgYo7nYh2j84cTwkKpAAB"),
} as const;
