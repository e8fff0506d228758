// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OddToken} from "./OddToken.sol";

/// @notice Balances share their word with a flag and a time.
contract PackedToken is OddToken {
    struct Account {
        bool frozen;
        uint112 balance;
        uint64 since;
    }

    uint256[70] private gap;
    mapping(address account => Account) private accounts;
    mapping(address holder => mapping(address spender => Account)) private allowances;

    function balanceOf(address account) public view override returns (uint256) {
        require(!accounts[account].frozen);
        return accounts[account].balance;
    }

    function allowance(address holder, address spender) public view override returns (uint256) {
        return allowances[holder][spender].balance;
    }

    function _setBalance(address account, uint256 amount) internal override {
        accounts[account].balance = uint112(amount);
        accounts[account].since = uint64(block.timestamp);
    }

    function _setAllowance(address holder, address spender, uint256 amount) internal override {
        allowances[holder][spender].balance = uint112(amount);
    }
}
