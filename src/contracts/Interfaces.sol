// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice The ERC-20 calls the executor makes. Transfers return nothing here because some tokens
/// return nothing; {SwapExecutor} reads the return value itself.
interface IERC20 {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 amount) external;
    function transferFrom(address from, address to, uint256 amount) external;
}

/// @notice ERC-20 that wraps the native asset one to one.
interface IWrappedNative {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// @notice Constant-product pair of the v2 kind.
interface IPairV2 {
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 timestamp);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// @notice Concentrated-liquidity pool of the v3 kind.
interface IPoolV3 {
    /// @param amountSpecified above zero: exact input
    /// @return amount0 change of the pool's token0 balance
    /// @return amount1 change of the pool's token1 balance
    function swap(
        address recipient,
        bool zeroForOne,
        int256 amountSpecified,
        uint160 sqrtPriceLimitX96,
        bytes calldata data
    ) external returns (int256 amount0, int256 amount1);
}
