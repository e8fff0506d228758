// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OddToken} from "./OddToken.sol";

/// @notice Words at hashes of its own choice, as Vyper, Solady and others have them.
abstract contract HashedToken is OddToken {
    function _balanceSlot(address account) internal pure virtual returns (bytes32);
    function _allowanceSlot(address holder, address spender) internal pure virtual returns (bytes32);

    function balanceOf(address account) public view override returns (uint256 amount) {
        bytes32 slot = _balanceSlot(account);
        assembly { amount := sload(slot) }
    }

    function allowance(address holder, address spender) public view override returns (uint256 amount) {
        bytes32 slot = _allowanceSlot(holder, spender);
        assembly { amount := sload(slot) }
    }

    function _setBalance(address account, uint256 amount) internal override {
        bytes32 slot = _balanceSlot(account);
        assembly { sstore(slot, amount) }
    }

    function _setAllowance(address holder, address spender, uint256 amount) internal override {
        bytes32 slot = _allowanceSlot(holder, spender);
        assembly { sstore(slot, amount) }
    }
}
