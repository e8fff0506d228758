// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IV3PoolState, PoolReader} from "./PoolReader.sol";

/// Never deployed: its code is lent to an unused address for the length of one call.
contract PoolLens is PoolReader {
    function read(IV3PoolState pool, int24 firstWord, int24 lastWord)
        external
        view
        returns (bytes memory)
    {
        return readPool(pool, firstWord, lastWord);
    }
}
