// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20, IPairV2, IPoolV3, IWrappedNative} from "./Interfaces.sol";

/// @title Swap executor
/// @notice Runs a priced route of v2 and v3 hops for its caller, in one transaction, or reverts.
///
/// The caller pays and the caller receives; nobody else can be named. The only contracts it calls
/// are tokens (balanceOf, transfer, and transferFrom out of the caller), the wrapped native token,
/// and pools whose address follows by CREATE2 from a factory fixed at deployment. It keeps no
/// storage, has no owner and no upgrade, approves nobody, and ends every swap with the balances it
/// started with. README.md beside this file lists the threats and which rule meets each.
contract SwapExecutor {
    /// @param venue index of the venue, see {venue}
    /// @param fee v3: the pool's fee in pips (1e-6), part of its address; ignored for v2
    /// @param tokenOut token bought by this hop; the next hop sells it
    struct Hop {
        uint8 venue;
        uint24 fee;
        address tokenOut;
    }

    /// @param amountIn part of the order's input sold through this leg
    /// @param hops one to {MAX_HOPS}, the last one buying the order's output token
    struct Leg {
        uint256 amountIn;
        Hop[] hops;
    }

    /// @param tokenIn token sold, or {NATIVE}; hops name the wrapped token in its place
    /// @param tokenOut token bought, or {NATIVE}
    /// @param amountIn exact input, the sum of the legs' amounts
    /// @param minAmountOut least the caller's balance must grow by, after the fee; above zero
    /// @param deadline unix time, seconds, after which the order is void
    /// @param feeBps platform fee on the output, at most {MAX_FEE_BPS}
    /// @param legs one to {MAX_LEGS}, run in order
    struct Swap {
        address tokenIn;
        address tokenOut;
        uint256 amountIn;
        uint256 minAmountOut;
        uint256 deadline;
        uint16 feeBps;
        Leg[] legs;
    }

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

    /// @notice A swap was done.
    /// @param amountOut received by the user, after the fee
    /// @param fee platform fee paid, in the output token (in its wrapped form for {NATIVE})
    event Swapped(
        address indexed user,
        address indexed tokenIn,
        address indexed tokenOut,
        uint256 amountIn,
        uint256 amountOut,
        uint256 fee
    );

    // Deployment
    error ChainNotConfigured(uint256 chainId);
    error TooManyVenues(uint256 count);
    error InvalidVenue(uint256 index);

    // Terms of the order
    error DeadlineExpired(uint256 deadline, uint256 timestamp);
    error MinAmountOutZero();
    error FeeTooHigh(uint256 feeBps, uint256 maxFeeBps);
    error SameToken(address token);
    error NativeNotSupported();
    error WrongNativeValue(uint256 expected, uint256 actual);
    error InvalidLegCount(uint256 count);
    error InvalidHopCount(uint256 count);
    error LegAmountsMismatch(uint256 expected, uint256 actual);
    error UnknownVenue(uint256 index);
    error WrongOutputToken(address expected, address actual);
    error AmountTooLarge(uint256 amount);

    // Execution
    error Reentered();
    error PoolNotFound(address pool);
    error NoLiquidity(address pool);
    error PartialFill(uint256 amountIn, uint256 amountTaken);
    error CallbackForbidden(address caller);
    error CallbackOverdraw(uint256 budget, uint256 amountOwed);
    error CallbackMissing(address pool);
    error TransferFailed(address token);
    error NativeTransferFailed();
    error UnexpectedNative(address sender);
    error InsufficientOutput(uint256 minAmountOut, uint256 amountOut);
    error LeftoverBalance(address token);

    /// @notice Stands for the chain's native asset in an order.
    address public constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    uint256 public constant MAX_FEE_BPS = 100;
    uint256 public constant MAX_LEGS = 8;
    uint256 public constant MAX_HOPS = 3;
    uint256 public constant MAX_VENUES = 6;
    uint256 public constant MAX_VENUE_FEE_BPS = 1000;

    uint256 private constant BPS = 10_000;
    uint256 private constant KIND_V2 = 2;
    uint256 private constant KIND_V3 = 3;
    /// Price limits one inside the range a v3 pool accepts, so that the limit never ends a swap
    /// that the pool's liquidity would not have ended.
    uint160 private constant MIN_SQRT_PRICE_LIMIT = 4295128740;
    uint160 private constant MAX_SQRT_PRICE_LIMIT =
        1461446703485210103287273052203988822378723970341;

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
    address private immutable WRAPPED_NATIVE;
    address private immutable FEE_RECIPIENT;

    /// The caller of the swap in flight; zero when there is none, so it is the lock as well.
    address private transient _caller;
    /// The one pool that may call back, set just before it is called and cleared by its callback.
    address private transient _expectedPool;
    /// Who pays that pool: the caller for a first hop, this contract for what it holds.
    address private transient _payer;
    address private transient _owedToken;
    uint256 private transient _budget;

    /// @param table every chain's venues. The whole table is part of the creation code, so one
    /// CREATE2 salt gives one address on all of them.
    /// @param recipient receives platform fees; zero refuses every order with a fee
    constructor(ChainVenues[] memory table, address recipient) {
        FEE_RECIPIENT = recipient;
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

    /// @notice Native value comes back only when the wrapped token is redeemed.
    receive() external payable {
        if (msg.sender != WRAPPED_NATIVE) revert UnexpectedNative(msg.sender);
    }

    /// @notice Sells exactly `order.amountIn` of the caller's tokens along the order's legs and
    /// pays the caller. Needs an allowance of `amountIn` to this contract, or `amountIn` as value
    /// when the input is {NATIVE}.
    /// @return amountOut what the caller received, after the fee
    function swap(Swap calldata order) external payable returns (uint256 amountOut) {
        if (_caller != address(0)) revert Reentered();
        _caller = msg.sender;
        _requireTerms(order);

        address tokenIn = _erc20Of(order.tokenIn);
        address tokenOut = _erc20Of(order.tokenOut);
        if (tokenIn == tokenOut) revert SameToken(tokenIn);
        uint256 nativeBefore = address(this).balance - msg.value;

        address payer = msg.sender;
        if (order.tokenIn == NATIVE) {
            if (msg.value != order.amountIn) revert WrongNativeValue(order.amountIn, msg.value);
            // Wrapped one to one and paid out again to the unit, because the legs must add up to
            // the input and every hop takes all it is given: nothing can be left to check.
            IWrappedNative(tokenIn).deposit{value: msg.value}();
            payer = address(this);
        } else if (msg.value != 0) {
            revert WrongNativeValue(0, msg.value);
        }

        uint256 fee;
        (amountOut, fee) = _swapAndPay(order, tokenIn, tokenOut, payer);
        if (amountOut < order.minAmountOut) revert InsufficientOutput(order.minAmountOut, amountOut);
        if (address(this).balance != nativeBefore) revert LeftoverBalance(NATIVE);
        emit Swapped(msg.sender, order.tokenIn, order.tokenOut, order.amountIn, amountOut, fee);
        _caller = address(0);
    }

    /// @notice Pays a v3 pool for the hop in flight.
    /// @dev The pool, the token, the payer and the budget are all our own, from transient storage;
    /// the callback data is not read. Whoever else calls finds no pool expected.
    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata)
        external
    {
        if (msg.sender != _expectedPool) revert CallbackForbidden(msg.sender);
        _expectedPool = address(0);

        int256 delta = amount0Delta > 0 ? amount0Delta : amount1Delta;
        uint256 owed = delta > 0 ? uint256(delta) : 0;
        uint256 budget = _budget;
        if (owed > budget) revert CallbackOverdraw(budget, owed);
        // A pool that runs dry takes less than offered. The route was priced for all of it.
        if (owed < budget) revert PartialFill(budget, owed);
        _pay(_owedToken, _payer, msg.sender, owed);
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

    function feeRecipient() external view returns (address) {
        return FEE_RECIPIENT;
    }

    function wrappedNative() external view returns (address) {
        return WRAPPED_NATIVE;
    }

    /// @dev What can be refused before anything moves.
    function _requireTerms(Swap calldata order) private view {
        if (block.timestamp > order.deadline) {
            revert DeadlineExpired(order.deadline, block.timestamp);
        }
        if (order.minAmountOut == 0) revert MinAmountOutZero();
        uint256 maxFeeBps = FEE_RECIPIENT == address(0) ? 0 : MAX_FEE_BPS;
        if (order.feeBps > maxFeeBps) revert FeeTooHigh(order.feeBps, maxFeeBps);
        uint256 count = order.legs.length;
        if (count == 0 || count > MAX_LEGS) revert InvalidLegCount(count);
    }

    /// @dev Runs the legs and pays the caller; without a fee and a redemption the last pool of each
    /// leg pays the caller itself, which saves a transfer.
    /// @param payer pays the first hops
    function _swapAndPay(Swap calldata order, address tokenIn, address tokenOut, address payer)
        private
        returns (uint256 amountOut, uint256 fee)
    {
        if (order.feeBps == 0 && order.tokenOut != NATIVE) {
            uint256 callerBefore = IERC20(tokenOut).balanceOf(msg.sender);
            _runLegs(order, tokenIn, tokenOut, payer, msg.sender);
            return (IERC20(tokenOut).balanceOf(msg.sender) - callerBefore, 0);
        }
        uint256 heldBefore = IERC20(tokenOut).balanceOf(address(this));
        _runLegs(order, tokenIn, tokenOut, payer, address(this));
        uint256 gross = IERC20(tokenOut).balanceOf(address(this)) - heldBefore;
        fee = gross * order.feeBps / BPS;
        // A recipient that can't receive (a blocked account, say) forgoes its fee; it can't stop
        // the swap.
        if (fee != 0 && !_tryTransfer(tokenOut, FEE_RECIPIENT, fee)) fee = 0;
        amountOut = order.tokenOut == NATIVE
            ? _redeem(gross - fee)
            : _payCaller(tokenOut, gross - fee);
        _requireHeld(tokenOut, heldBefore);
    }

    /// @dev Sends a token to the caller.
    /// @return what arrived, which is less than `amount` for a token that taxes transfers
    function _payCaller(address token, uint256 amount) private returns (uint256) {
        uint256 callerBefore = IERC20(token).balanceOf(msg.sender);
        if (!_tryTransfer(token, msg.sender, amount)) revert TransferFailed(token);
        return IERC20(token).balanceOf(msg.sender) - callerBefore;
    }

    /// @dev Unwraps and sends to the caller. Value transfers are exact, so the caller's balance is
    /// not measured: a wallet may pass the money on as it arrives.
    function _redeem(uint256 amount) private returns (uint256) {
        IWrappedNative(WRAPPED_NATIVE).withdraw(amount);
        (bool sent,) = msg.sender.call{value: amount}("");
        if (!sent) revert NativeTransferFailed();
        return amount;
    }

    function _runLegs(
        Swap calldata order,
        address tokenIn,
        address tokenOut,
        address payer,
        address recipient
    ) private {
        uint256 total;
        uint256 count = order.legs.length;
        for (uint256 i; i < count; ++i) {
            Leg calldata leg = order.legs[i];
            total += leg.amountIn;
            _runLeg(leg, tokenIn, tokenOut, payer, recipient);
        }
        if (total != order.amountIn) revert LegAmountsMismatch(order.amountIn, total);
    }

    /// @dev Each pool pays straight into the next v2 pair. Before a v3 hop this contract has to
    /// hold the money, since a v3 pool collects by callback; it then sells what arrived and must
    /// end with what it held before.
    function _runLeg(
        Leg calldata leg,
        address token,
        address tokenOut,
        address payer,
        address recipient
    ) private {
        uint256 count = leg.hops.length;
        if (count == 0 || count > MAX_HOPS) revert InvalidHopCount(count);

        uint256 amountIn = leg.amountIn;
        (address pool, uint256 word) = _pool(leg.hops[0], token);
        if (_kind(word) == KIND_V2) _pay(token, payer, pool, amountIn);

        bool holding; // whether this contract holds the input of the hop at `pool`
        uint256 heldBefore; // and what it held of that token before
        for (uint256 i = 1; i < count; ++i) {
            address bought = leg.hops[i - 1].tokenOut;
            (address nextPool, uint256 nextWord) = _pool(leg.hops[i], bought);
            bool holdNext = _kind(nextWord) == KIND_V3;
            address to = holdNext ? address(this) : nextPool;
            uint256 boughtBefore = holdNext ? IERC20(bought).balanceOf(address(this)) : 0;
            _swapHop(pool, word, token, bought, amountIn, payer, to);
            if (holding) _requireHeld(token, heldBefore);
            // A v2 pair measures its input itself.
            amountIn = holdNext ? IERC20(bought).balanceOf(address(this)) - boughtBefore : 0;
            (holding, heldBefore, payer) = (holdNext, boughtBefore, address(this));
            (pool, word, token) = (nextPool, nextWord, bought);
        }
        address last = leg.hops[count - 1].tokenOut;
        if (last != tokenOut) revert WrongOutputToken(tokenOut, last);
        _swapHop(pool, word, token, tokenOut, amountIn, payer, recipient);
        if (holding) _requireHeld(token, heldBefore);
    }

    function _swapHop(
        address pool,
        uint256 word,
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        address payer,
        address to
    ) private {
        if (_kind(word) == KIND_V2) _swapV2(pool, word >> 168, tokenIn, tokenOut, to);
        else _swapV3(pool, tokenIn, tokenOut, amountIn, payer, to);
    }

    /// @dev Swaps what the pair holds above its reserve: the input as it arrived, whatever a token
    /// took from the transfer.
    function _swapV2(address pool, uint256 feeBps, address tokenIn, address tokenOut, address to)
        private
    {
        (uint256 reserveIn, uint256 reserveOut,) = IPairV2(pool).getReserves();
        bool zeroForOne = tokenIn < tokenOut;
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        if (reserveIn == 0 || reserveOut == 0) revert NoLiquidity(pool);

        uint256 afterFee =
            (IERC20(tokenIn).balanceOf(pool) - reserveIn) * (BPS - feeBps);
        uint256 amountOut = afterFee * reserveOut / (reserveIn * BPS + afterFee);
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), amountOut) : (amountOut, uint256(0));
        IPairV2(pool).swap(out0, out1, to, "");
    }

    function _swapV3(
        address pool,
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        address payer,
        address to
    ) private {
        // A negative amount would mean exact output to the pool.
        if (amountIn > uint256(type(int256).max)) revert AmountTooLarge(amountIn);
        (_expectedPool, _payer, _owedToken, _budget) = (pool, payer, tokenIn, amountIn);
        bool zeroForOne = tokenIn < tokenOut;
        IPoolV3(pool).swap(
            to,
            zeroForOne,
            int256(amountIn),
            zeroForOne ? MIN_SQRT_PRICE_LIMIT : MAX_SQRT_PRICE_LIMIT,
            ""
        );
        if (_expectedPool != address(0)) revert CallbackMissing(pool);
    }

    /// @dev The pool of a hop, by CREATE2 from the venue's factory. No address from calldata is
    /// ever called as a pool.
    function _pool(Hop calldata hop, address tokenIn)
        private
        view
        returns (address pool, uint256 word)
    {
        bytes32 initCodeHash;
        (word, initCodeHash) = _venue(hop.venue);
        (address token0, address token1) =
            tokenIn < hop.tokenOut ? (tokenIn, hop.tokenOut) : (hop.tokenOut, tokenIn);
        bytes32 salt = _kind(word) == KIND_V2
            ? keccak256(abi.encodePacked(token0, token1))
            : keccak256(abi.encode(token0, token1, hop.fee));
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

    function _venue(uint256 i) private view returns (uint256 word, bytes32 initCodeHash) {
        if (i >= VENUE_COUNT) revert UnknownVenue(i);
        if (i == 0) return (VENUE_0, INIT_CODE_HASH_0);
        if (i == 1) return (VENUE_1, INIT_CODE_HASH_1);
        if (i == 2) return (VENUE_2, INIT_CODE_HASH_2);
        if (i == 3) return (VENUE_3, INIT_CODE_HASH_3);
        if (i == 4) return (VENUE_4, INIT_CODE_HASH_4);
        return (VENUE_5, INIT_CODE_HASH_5);
    }

    function _kind(uint256 word) private pure returns (uint256) {
        return (word >> 160) & 0xff;
    }

    /// @dev The ERC-20 behind a token of the order.
    function _erc20Of(address token) private view returns (address) {
        if (token != NATIVE) return token;
        if (WRAPPED_NATIVE == address(0)) revert NativeNotSupported();
        return WRAPPED_NATIVE;
    }

    /// @param payer this contract or the swap's caller; nothing else ever gets here
    function _pay(address token, address payer, address to, uint256 amount) private {
        bool paid = payer == address(this)
            ? _tryTransfer(token, to, amount)
            : _tryTransferFromCaller(token, to, amount);
        if (!paid) revert TransferFailed(token);
    }

    /// @dev `from` is the swap's caller and can't be given.
    function _tryTransferFromCaller(address token, address to, uint256 amount)
        private
        returns (bool)
    {
        return _callToken(token, abi.encodeCall(IERC20.transferFrom, (_caller, to, amount)));
    }

    function _tryTransfer(address token, address to, uint256 amount) private returns (bool) {
        return _callToken(token, abi.encodeCall(IERC20.transfer, (to, amount)));
    }

    /// @dev Takes tokens that return true and tokens that return nothing (USDT); no return value
    /// counts as success only from an account with code. Called with the two transfers above only.
    function _callToken(address token, bytes memory transferCall) private returns (bool success) {
        assembly ("memory-safe") {
            mstore(0, 0)
            success := call(gas(), token, 0, add(transferCall, 32), mload(transferCall), 0, 32)
            switch returndatasize()
            case 0 { success := and(success, iszero(iszero(extcodesize(token)))) }
            default { success := and(success, and(gt(returndatasize(), 31), eq(mload(0), 1))) }
        }
    }

    function _requireHeld(address token, uint256 expected) private view {
        if (IERC20(token).balanceOf(address(this)) != expected) revert LeftoverBalance(token);
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
