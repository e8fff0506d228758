// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OddToken} from "./OddToken.sol";

/// @notice Every number is kept twice, and both must agree: no single word can be changed.
contract DoubleEntryToken is OddToken {
    mapping(bytes32 key => uint256[2]) private entries;

    function balanceOf(address account) public view override returns (uint256) {
        return _read(keccak256(abi.encode(account)));
    }

    function allowance(address holder, address spender) public view override returns (uint256) {
        return _read(keccak256(abi.encode(holder, spender)));
    }

    function _setBalance(address account, uint256 amount) internal override {
        entries[keccak256(abi.encode(account))] = [amount, ~amount];
    }

    function _setAllowance(address holder, address spender, uint256 amount) internal override {
        entries[keccak256(abi.encode(holder, spender))] = [amount, ~amount];
    }

    function _read(bytes32 key) private view returns (uint256) {
        uint256[2] storage entry = entries[key];
        require(entry[0] == ~entry[1] || entry[0] + entry[1] == 0);
        return entry[0];
    }
}
