/** Multicall3 at the address it has on every network (mds1/multicall3). */
export const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** keccak256 of UniswapV2Pair's creation code (@uniswap/v2-core 1.0.1). */
export const UNISWAP_V2_INIT = "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f";

/** keccak256 of UniswapV3Pool's creation code (@uniswap/v3-core 1.0.1). */
export const UNISWAP_V3_INIT = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54";

/** CCTP V2 contracts, the same on every EVM mainnet (Circle's published deployments). */
export const CCTP_V2_MAINNET = {
  tokenMessenger: "0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d",
  messageTransmitter: "0x81D40F21F12A8F0E3252Bccb954D722d4c464B64",
};

/** CCTP V2 contracts, the same on every EVM testnet (Circle's published deployments). */
export const CCTP_V2_TESTNET = {
  tokenMessenger: "0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA",
  messageTransmitter: "0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275",
};
