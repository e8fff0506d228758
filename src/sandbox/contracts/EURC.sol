// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {MintableERC20} from "./MintableERC20.sol";
import {StandardERC20} from "./StandardERC20.sol";

/// @title Local EURC: a plain ERC-20 with 18 decimals
contract EURC is StandardERC20 {
    constructor(address owner) MintableERC20("Euro Coin", "EURC", 18, owner) {}
}
