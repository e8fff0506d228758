import type { NetworkData } from "../../config/index.ts";
import { CCTP_V2_MAINNET, CCTP_V2_TESTNET, MULTICALL3 } from "./shared.ts";

const ether = { symbol: "ETH", decimals: 18 };

/** What the Ethereum-like networks below share; each adds its own members. */
const common = {
  kind: "evm" as const,
  native: ether,
  finality: { hasTag: true },
  connectors: [],
  venues: [],
  multicall3: MULTICALL3,
};
const usdc = (address: string) => ({ symbol: "USDC", name: "USD Coin", address, decimals: 6 });

/** One data entry per network; addresses are Circle's published deployments. */
export const ethereum: NetworkData = {
  ...common,
  id: 1,
  name: "Ethereum",
  aliases: ["Mainnet", "Ethereum_Mainnet"],
  environment: "mainnet",
  blockTimeMs: 12_000,
  upstreams: [{ url: "https://ethereum-rpc.publicnode.com" }, { url: "https://eth.drpc.org" }],
  tokens: [
    usdc("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
    {
      symbol: "USDT",
      name: "Tether USD",
      address: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
      decimals: 6,
    },
  ],
  cctp: { domain: 0, ...CCTP_V2_MAINNET },
};

export const sepolia: NetworkData = {
  ...common,
  id: 11_155_111,
  name: "Ethereum_Sepolia",
  aliases: ["Sepolia"],
  environment: "testnet",
  blockTimeMs: 12_000,
  upstreams: [
    { url: "https://ethereum-sepolia-rpc.publicnode.com" },
    { url: "https://sepolia.drpc.org" },
  ],
  tokens: [usdc("0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238")],
  cctp: { domain: 0, ...CCTP_V2_TESTNET },
};

export const base: NetworkData = {
  ...common,
  id: 8453,
  name: "Base",
  aliases: ["Base_Mainnet"],
  environment: "mainnet",
  blockTimeMs: 2_000,
  upstreams: [{ url: "https://mainnet.base.org" }, { url: "https://base-rpc.publicnode.com" }],
  tokens: [usdc("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")],
  wrappedNative: "0x4200000000000000000000000000000000000006",
  cctp: { domain: 6, ...CCTP_V2_MAINNET },
};

export const baseSepolia: NetworkData = {
  ...common,
  id: 84_532,
  name: "Base_Sepolia",
  aliases: [],
  environment: "testnet",
  blockTimeMs: 2_000,
  upstreams: [
    { url: "https://sepolia.base.org" },
    { url: "https://base-sepolia-rpc.publicnode.com" },
  ],
  tokens: [usdc("0x036CbD53842c5426634e7929541eC2318f3dCF7e")],
  wrappedNative: "0x4200000000000000000000000000000000000006",
  cctp: { domain: 6, ...CCTP_V2_TESTNET },
};

export const arbitrum: NetworkData = {
  ...common,
  id: 42_161,
  name: "Arbitrum",
  aliases: ["Arbitrum_One"],
  environment: "mainnet",
  blockTimeMs: 250,
  upstreams: [
    { url: "https://arb1.arbitrum.io/rpc" },
    { url: "https://arbitrum-one-rpc.publicnode.com" },
  ],
  tokens: [usdc("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")],
  cctp: { domain: 3, ...CCTP_V2_MAINNET },
};

export const arbitrumSepolia: NetworkData = {
  ...common,
  id: 421_614,
  name: "Arbitrum_Sepolia",
  aliases: [],
  environment: "testnet",
  blockTimeMs: 250,
  upstreams: [
    { url: "https://sepolia-rollup.arbitrum.io/rpc" },
    { url: "https://arbitrum-sepolia-rpc.publicnode.com" },
  ],
  tokens: [usdc("0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d")],
  cctp: { domain: 3, ...CCTP_V2_TESTNET },
};
