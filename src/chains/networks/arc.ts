import type { NetworkData } from "../../config/index.ts";
import {
  CCTP_V2_MAINNET,
  CCTP_V2_TESTNET,
  MULTICALL3,
  UNISWAP_V2_INIT,
  UNISWAP_V3_INIT,
} from "./shared.ts";

/**
 * Arc: native gas is USDC with 18 decimals; the ERC-20 face at 0x3600… shows the same balance
 * with 6. There is no wrapped native token. DEX addresses: Uniswap's published deployments.
 */
export const arc: NetworkData = {
  kind: "evm",
  id: 5042,
  name: "Arc",
  aliases: ["Arc_Mainnet"],
  environment: "mainnet",
  blockTimeMs: 500,
  // A block of Arc is final when it is there; one more keeps off what nodes may still disagree on.
  finality: { depth: 1 },
  native: { symbol: "USDC", decimals: 18 },
  upstreams: [
    { url: "https://rpc.mainnet.arc.io" },
    { url: "https://rpc.quicknode.mainnet.arc.io" },
    { url: "https://rpc.blockdaemon.mainnet.arc.io" },
    { url: "https://rpc.drpc.mainnet.arc.io" },
  ],
  tokens: [
    {
      symbol: "USDC",
      name: "USD Coin",
      address: "0x3600000000000000000000000000000000000000",
      decimals: 6,
    },
    {
      symbol: "EURC",
      name: "Euro Coin",
      address: "0xbEf5f6d51CB62b58e6A8f77868681825C6fe21c1",
      decimals: 6,
    },
  ],
  connectors: [],
  venues: [
    {
      id: "venue-a",
      name: "Uniswap v3",
      type: "v3",
      factory: "0xf0db7b58379503491d857db50ac9ece64c653918",
      router: "0x53bf6b0684ec7ef91e1387da3d1a1769bc5a6f77",
      quoter: "0x7dfd4f31be6814d2906bde155c3e1b146eac1468",
      initCodeHash: UNISWAP_V3_INIT,
      enabled: true,
    },
    {
      id: "venue-b",
      name: "Uniswap v2",
      type: "v2",
      factory: "0x89e5db8b5aa49aa85ac63f691524311aeb649eba",
      router: "0x1f7d7550b1b028f7571e69a784071f0205fd2efa",
      quoter: "0x1f7d7550b1b028f7571e69a784071f0205fd2efa",
      initCodeHash: UNISWAP_V2_INIT,
      feeBps: 30,
      enabled: true,
    },
  ],
  multicall3: MULTICALL3,
  cctp: { domain: 26, ...CCTP_V2_MAINNET },
};

/** Arc's public testnet. */
export const arcTestnet: NetworkData = {
  ...arc,
  id: 5042002,
  name: "Arc_Testnet",
  aliases: [],
  environment: "testnet",
  upstreams: [
    { url: "https://rpc.testnet.arc.network" },
    { url: "https://rpc.quicknode.testnet.arc.network" },
    { url: "https://rpc.blockdaemon.testnet.arc.network" },
    { url: "https://rpc.drpc.testnet.arc.network" },
  ],
  tokens: [
    {
      symbol: "USDC",
      name: "USD Coin",
      address: "0x3600000000000000000000000000000000000000",
      decimals: 6,
    },
    {
      symbol: "EURC",
      name: "Euro Coin",
      address: "0x89B50855Aa3bE2F677cD6303Cec089B5F319D72a",
      decimals: 6,
    },
  ],
  venues: [],
  cctp: { domain: 26, ...CCTP_V2_TESTNET },
};
