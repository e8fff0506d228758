import { expect, test } from "bun:test";
import { UNISWAP_V2_INIT, UNISWAP_V3_INIT } from "../../src/chains/networks/shared.ts";
import { v2PairAddress, v3PoolAddress } from "../../src/market/index.ts";

const USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const WETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2";

test("derives the pools everyone knows on Ethereum, whatever the order of the tokens", () => {
  const v2 = {
    factory: "0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f",
    initCodeHash: UNISWAP_V2_INIT,
  };
  const v3 = {
    factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984",
    initCodeHash: UNISWAP_V3_INIT,
  };
  for (const [a, b] of [
    [USDC, WETH],
    [WETH, USDC],
  ] as const) {
    expect(v2PairAddress(v2, a, b)).toBe("0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc");
    expect(v3PoolAddress(v3, a, b, 500)).toBe("0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640");
  }
});
