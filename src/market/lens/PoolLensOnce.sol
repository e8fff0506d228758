// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IV3PoolState, PoolReader} from "./PoolReader.sol";

/// Never deployed: a call without receiver runs the constructor, and what it returns in place of
/// code is the result. Nodes cut that at the size limit of code, 24,576 bytes, and refuse a first
/// byte of 0xEF, which the format's first byte never is.
contract PoolLensOnce is PoolReader {
    constructor(IV3PoolState pool, int24 firstWord, int24 lastWord) {
        bytes memory packed = readPool(pool, firstWord, lastWord);
        assembly ("memory-safe") {
            return(add(packed, 32), mload(packed))
        }
    }
}
