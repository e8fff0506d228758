// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OddToken} from "./OddToken.sol";

/// @notice Balances are shares of a pot, 2^40 of them to a unit.
contract SharesToken is OddToken {
    uint256 private perUnit = 2 ** 40;
    mapping(address account => uint256) private shares;
    mapping(address holder => mapping(address spender => uint256)) private allowances;

    function balanceOf(address account) public view override returns (uint256) {
        return shares[account] / perUnit;
    }

    function allowance(address holder, address spender) public view override returns (uint256) {
        return allowances[holder][spender];
    }

    function _setBalance(address account, uint256 amount) internal override {
        shares[account] = amount * perUnit;
    }

    function _setAllowance(address holder, address spender, uint256 amount) internal override {
        allowances[holder][spender] = amount;
    }
}
