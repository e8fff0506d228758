import type { NetworkData } from "../../config/index.ts";

/** CCTP V2's programs, the same on every cluster; Circle keeps a lookup table on each. */
const cctp = {
  domain: 5,
  tokenMessenger: "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe",
  messageTransmitter: "CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC",
};
const native = { symbol: "SOL", decimals: 9 };

/** Solana's clusters have no integer chain id; these stand for them where one is needed. */
export const solana: NetworkData = {
  kind: "solana",
  id: 1_151_111_081_099_710,
  name: "Solana",
  aliases: ["Solana_Mainnet", "Solana_Mainnet_Beta"],
  environment: "mainnet",
  blockTimeMs: 400,
  native,
  upstreams: [{ url: "https://api.mainnet-beta.solana.com" }],
  tokens: [
    {
      symbol: "USDC",
      name: "USD Coin",
      address: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      decimals: 6,
    },
    {
      symbol: "EURC",
      name: "Euro Coin",
      address: "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr",
      decimals: 6,
    },
    {
      symbol: "USDT",
      name: "Tether USD",
      address: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
      decimals: 6,
    },
  ],
  connectors: [],
  venues: [],
  cctp: { ...cctp, lookupTable: "qj4EYgsGpnRdt9rvQW3wWZR8JVaKPg9rG9EB8DNgfz8" },
};

export const solanaDevnet: NetworkData = {
  kind: "solana",
  id: 133_268_194_659_241,
  name: "Solana_Devnet",
  aliases: [],
  environment: "testnet",
  blockTimeMs: 400,
  native,
  upstreams: [{ url: "https://api.devnet.solana.com" }],
  tokens: [
    {
      symbol: "USDC",
      name: "USD Coin",
      address: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
      decimals: 6,
    },
  ],
  connectors: [],
  venues: [],
  cctp: { ...cctp, lookupTable: "29VCJ73d5aR5dE6oxaUkipntw1tFzDDKNLqrXE2ujWHW" },
};
