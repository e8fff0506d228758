import type { NetworkData } from "../../config/index.ts";
import { arc, arcTestnet } from "./arc.ts";
import { arbitrum, arbitrumSepolia, base, baseSepolia, ethereum, sepolia } from "./ethereum.ts";
import { solana, solanaDevnet } from "./solana.ts";

/** The networks every installation knows; a config file adds to them or replaces members. */
export const builtInNetworks: readonly NetworkData[] = [
  arc,
  arcTestnet,
  ethereum,
  sepolia,
  base,
  baseSepolia,
  arbitrum,
  arbitrumSepolia,
  solana,
  solanaDevnet,
];
