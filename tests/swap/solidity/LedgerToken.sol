// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OddToken} from "./OddToken.sol";
import {Ledger} from "./Ledger.sol";

contract LedgerToken is OddToken {
    Ledger private immutable LEDGER = new Ledger();

    function balanceOf(address account) public view override returns (uint256) {
        return LEDGER.read(keccak256(abi.encode(account)));
    }

    function allowance(address holder, address spender) public view override returns (uint256) {
        return LEDGER.read(keccak256(abi.encode(holder, spender)));
    }

    function _setBalance(address account, uint256 amount) internal override {
        LEDGER.write(keccak256(abi.encode(account)), amount);
    }

    function _setAllowance(address holder, address spender, uint256 amount) internal override {
        LEDGER.write(keccak256(abi.encode(holder, spender)), amount);
    }
}
