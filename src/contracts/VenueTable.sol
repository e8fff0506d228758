// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Venue table
/// @notice The venues and the wrapped native token of one chain, fixed at deployment, and the proof
/// that an address is a pool of one of them.
abstract contract VenueTable {
    /// @param factory deployer of the venue's pools
    /// @param initCodeHash keccak256 of the pools' creation code
    /// @param kind 2 or 3
    /// @param feeBps v2: the pairs' fee, at most {MAX_VENUE_FEE_BPS}; zero for v3
    struct VenueConfig {
        address factory;
        bytes32 initCodeHash;
        uint8 kind;
        uint16 feeBps;
    }

    /// @notice What the executor knows on one chain.
    /// @param wrappedNative zero where the chain has none: native amounts are refused there
    struct ChainVenues {
        uint256 chainId;
        address wrappedNative;
        VenueConfig[] venues;
    }

    error ChainNotConfigured(uint256 chainId);
    error TooManyVenues(uint256 count);
    error InvalidVenue(uint256 index);
    error UnknownVenue(uint256 index);
    error PoolNotFound(address pool);

    uint256 public constant MAX_VENUES = 6;
    uint256 public constant MAX_VENUE_FEE_BPS = 1000;
    uint256 internal constant KIND_V2 = 2;
    uint256 internal constant KIND_V3 = 3;

    /// Venues live in code, because a storage read would cost 2,100 gas on every hop.
    /// Each is one word, `factory | kind << 160 | feeBps << 168`, and its pools' creation code hash.
    uint256 private immutable VENUE_0;
    uint256 private immutable VENUE_1;
    uint256 private immutable VENUE_2;
    uint256 private immutable VENUE_3;
    uint256 private immutable VENUE_4;
    uint256 private immutable VENUE_5;
    bytes32 private immutable INIT_CODE_HASH_0;
    bytes32 private immutable INIT_CODE_HASH_1;
    bytes32 private immutable INIT_CODE_HASH_2;
    bytes32 private immutable INIT_CODE_HASH_3;
    bytes32 private immutable INIT_CODE_HASH_4;
    bytes32 private immutable INIT_CODE_HASH_5;
    uint256 private immutable VENUE_COUNT;
    address internal immutable WRAPPED_NATIVE;

    /// @param table every chain's venues; this chain's are kept
    constructor(ChainVenues[] memory table) {
        ChainVenues memory chain = _ownChain(table);
        WRAPPED_NATIVE = chain.wrappedNative;
        uint256 count = chain.venues.length;
        if (count > MAX_VENUES) revert TooManyVenues(count);
        VENUE_COUNT = count;
        uint256[6] memory words;
        bytes32[6] memory hashes;
        for (uint256 i; i < count; ++i) {
            words[i] = _packVenue(chain.venues[i], i);
            hashes[i] = chain.venues[i].initCodeHash;
        }
        (VENUE_0, VENUE_1, VENUE_2) = (words[0], words[1], words[2]);
        (VENUE_3, VENUE_4, VENUE_5) = (words[3], words[4], words[5]);
        (INIT_CODE_HASH_0, INIT_CODE_HASH_1, INIT_CODE_HASH_2) = (hashes[0], hashes[1], hashes[2]);
        (INIT_CODE_HASH_3, INIT_CODE_HASH_4, INIT_CODE_HASH_5) = (hashes[3], hashes[4], hashes[5]);
    }

    /// @notice How many venues this chain has.
    function venueCount() external view returns (uint256) {
        return VENUE_COUNT;
    }

    /// @notice The venue a hop names by its index.
    function venue(uint256 i)
        external
        view
        returns (address factory, bytes32 initCodeHash, uint8 kind, uint16 feeBps)
    {
        uint256 word;
        (word, initCodeHash) = _venue(i);
        return (address(uint160(word)), initCodeHash, uint8(word >> 160), uint16(word >> 168));
    }

    function wrappedNative() external view returns (address) {
        return WRAPPED_NATIVE;
    }

    /// @dev The pool of a hop, by CREATE2 from the venue's factory. No address from calldata is
    /// ever called as a pool.
    function _pool(uint256 index, address tokenIn, address tokenOut, uint256 fee)
        internal
        view
        returns (address pool, uint256 word)
    {
        bytes32 initCodeHash;
        (word, initCodeHash) = _venue(index);
        (address token0, address token1) =
            tokenIn < tokenOut ? (tokenIn, tokenOut) : (tokenOut, tokenIn);
        bytes32 salt = _kind(word) == KIND_V2
            ? keccak256(abi.encodePacked(token0, token1))
            : keccak256(abi.encode(token0, token1, fee));
        pool = address(
            uint160(
                uint256(
                    keccak256(
                        abi.encodePacked(hex"ff", address(uint160(word)), salt, initCodeHash)
                    )
                )
            )
        );
        if (pool.code.length == 0) revert PoolNotFound(pool);
    }

    function _venue(uint256 i) internal view returns (uint256 word, bytes32 initCodeHash) {
        if (i >= VENUE_COUNT) revert UnknownVenue(i);
        if (i == 0) return (VENUE_0, INIT_CODE_HASH_0);
        if (i == 1) return (VENUE_1, INIT_CODE_HASH_1);
        if (i == 2) return (VENUE_2, INIT_CODE_HASH_2);
        if (i == 3) return (VENUE_3, INIT_CODE_HASH_3);
        if (i == 4) return (VENUE_4, INIT_CODE_HASH_4);
        return (VENUE_5, INIT_CODE_HASH_5);
    }

    function _kind(uint256 word) internal pure returns (uint256) {
        return (word >> 160) & 0xff;
    }

    function _ownChain(ChainVenues[] memory table) private view returns (ChainVenues memory) {
        for (uint256 i; i < table.length; ++i) {
            if (table[i].chainId == block.chainid) return table[i];
        }
        revert ChainNotConfigured(block.chainid);
    }

    function _packVenue(VenueConfig memory config, uint256 index) private pure returns (uint256) {
        bool valid = config.factory != address(0) && config.initCodeHash != 0
            && (config.kind == KIND_V2
                ? config.feeBps <= MAX_VENUE_FEE_BPS
                : config.kind == KIND_V3 && config.feeBps == 0);
        if (!valid) revert InvalidVenue(index);
        return uint256(uint160(config.factory)) | uint256(config.kind) << 160
            | uint256(config.feeBps) << 168;
    }
}
