// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {HashedToken} from "./HashedToken.sol";

contract VyperToken is HashedToken {
    function _balanceSlot(address account) internal pure override returns (bytes32) {
        return keccak256(abi.encode(uint256(5), account));
    }

    function _allowanceSlot(address holder, address spender) internal pure override returns (bytes32) {
        return keccak256(abi.encode(keccak256(abi.encode(uint256(6), holder)), spender));
    }
}
