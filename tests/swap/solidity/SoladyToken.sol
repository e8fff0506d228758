// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {HashedToken} from "./HashedToken.sol";

contract SoladyToken is HashedToken {
    function _balanceSlot(address account) internal pure override returns (bytes32) {
        return keccak256(abi.encodePacked(account, uint64(0), hex"87a211a2"));
    }

    function _allowanceSlot(address holder, address spender) internal pure override returns (bytes32) {
        return keccak256(abi.encodePacked(holder, uint64(0), hex"7f5e9f20", spender));
    }
}
