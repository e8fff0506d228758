// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {MintableERC20} from "./MintableERC20.sol";

/// @title Local USDT: 6 decimals, with the two habits of the real one on Ethereum
/// @notice transfer, transferFrom and approve return nothing, and an allowance above zero can only
/// be changed to zero.
contract USDT is MintableERC20 {
    error AllowanceNotReset(address spender, uint256 allowed);

    constructor(address owner) MintableERC20("Tether USD", "USDT", 6, owner) {}

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        _spendAllowance(from, msg.sender, amount);
        _move(from, to, amount);
    }

    function approve(address spender, uint256 amount) external {
        uint256 allowed = allowance[msg.sender][spender];
        if (amount != 0 && allowed != 0) revert AllowanceNotReset(spender, allowed);
        _approve(msg.sender, spender, amount);
    }
}
