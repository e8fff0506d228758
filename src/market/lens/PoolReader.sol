// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// The part of a v3 pool that decides swaps. Forks return more or fewer values after these; the
/// decoder ignores what follows.
interface IV3PoolState {
    function slot0() external view returns (uint160 sqrtPriceX96, int24 tick);
    function liquidity() external view returns (uint128);
    function tickSpacing() external view returns (int24);
    function tickBitmap(int16 word) external view returns (uint256);
    function ticks(int24 tick) external view returns (uint128 liquidityGross, int128 liquidityNet);
}

/// Reads a v3 pool's price, liquidity and initialised ticks into packed bytes:
///   1 byte format (1), 3 tick spacing, 20 sqrt price, 3 tick, 16 liquidity,
///   then per initialised tick, ascending: 3 index, 16 gross liquidity, 16 net liquidity.
abstract contract PoolReader {
    uint256 private constant HEADER_BYTES = 43;
    uint256 private constant TICK_BYTES = 35;
    int24 private constant MAX_TICK = 887272;

    /// @param firstWord first bitmap word to read; cut to the words the pool can use
    /// @param lastWord last bitmap word to read; cut as well
    function readPool(IV3PoolState pool, int24 firstWord, int24 lastWord)
        internal
        view
        returns (bytes memory packed)
    {
        int24 spacing = pool.tickSpacing();
        (uint160 sqrtPriceX96, int24 tick) = pool.slot0();
        bytes memory header =
            abi.encodePacked(uint8(1), spacing, sqrtPriceX96, tick, pool.liquidity());
        // The result grows at the free end of memory; nothing else allocates until it is closed.
        uint256 end;
        assembly ("memory-safe") {
            packed := mload(0x40)
            mcopy(add(packed, 32), add(header, 32), HEADER_BYTES)
            end := add(packed, add(32, HEADER_BYTES))
            mstore(0x40, end)
        }
        int24 edge = (MAX_TICK / spacing) >> 8;
        if (firstWord < -edge - 1) firstWord = -edge - 1;
        if (lastWord > edge) lastWord = edge;
        for (int24 word = firstWord; word <= lastWord; ++word) {
            end = readWord(pool, word, spacing, end);
        }
        assembly ("memory-safe") {
            mstore(packed, sub(end, add(packed, 32)))
            mstore(0x40, and(add(end, 31), not(31)))
        }
    }

    /// Appends the ticks of one bitmap word at `end`; returns the new end.
    function readWord(IV3PoolState pool, int24 word, int24 spacing, uint256 end)
        private
        view
        returns (uint256)
    {
        uint256 bitmap = readBitmap(pool, word, end);
        for (uint256 bit; bitmap >> bit != 0; ++bit) {
            if ((bitmap >> bit) & 1 == 0) continue;
            int24 index = (word * 256 + int24(uint24(bit))) * spacing;
            end = readTick(pool, index, end);
        }
        return end;
    }

    /// Calls by hand, with the memory at `end` as scratch, so that nothing is allocated there.
    function readBitmap(IV3PoolState pool, int24 word, uint256 end)
        private
        view
        returns (uint256 bitmap)
    {
        bytes4 selector = IV3PoolState.tickBitmap.selector;
        bool ok;
        assembly ("memory-safe") {
            mstore(end, selector)
            mstore(add(end, 4), word)
            ok := staticcall(gas(), pool, end, 36, end, 32)
            ok := and(ok, gt(returndatasize(), 31))
            bitmap := mload(end)
        }
        require(ok, "tickBitmap");
    }

    function readTick(IV3PoolState pool, int24 index, uint256 end)
        private
        view
        returns (uint256)
    {
        bytes4 selector = IV3PoolState.ticks.selector;
        bool ok;
        assembly ("memory-safe") {
            mstore(end, selector)
            mstore(add(end, 4), index)
            // The answer lands behind the place of the record that is made from it.
            let answer := add(end, 64)
            ok := staticcall(gas(), pool, end, 36, answer, 64)
            ok := and(ok, gt(returndatasize(), 63))
            let gross := mload(answer)
            let net := mload(add(answer, 32))
            mstore(end, shl(232, index))
            mstore(add(end, 3), shl(128, gross))
            mstore(add(end, 19), shl(128, net))
            end := add(end, TICK_BYTES)
            mstore(0x40, end)
        }
        require(ok, "ticks");
        return end;
    }
}
