// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {MintableERC20} from "./MintableERC20.sol";

/// @title ERC-20 whose calls return true, as EIP-20 wants
abstract contract StandardERC20 is MintableERC20 {
    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        _spendAllowance(from, msg.sender, amount);
        _move(from, to, amount);
        return true;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        _approve(msg.sender, spender, amount);
        return true;
    }
}
