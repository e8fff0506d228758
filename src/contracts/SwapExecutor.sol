// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20, IPairV2, IPoolV3, IWrappedNative} from "./Interfaces.sol";
import {VenueTable} from "./VenueTable.sol";

/// @title Swap executor
/// @notice Runs a priced route of v2 and v3 hops for its caller, in one transaction, or reverts.
///
/// The caller pays and the caller receives; nobody else can be named. The only contracts it calls
/// are tokens (balanceOf, transfer, and transferFrom out of the caller), the wrapped native token,
/// and pools whose address follows by CREATE2 from a factory fixed at deployment. It keeps no
/// storage, has no owner and no upgrade, approves nobody, and ends every swap with the balances it
/// started with. README.md beside this file lists the threats and which rule meets each.
contract SwapExecutor is VenueTable {
    /// @param venue index of the venue, see {venue}
    /// @param fee v3: the pool's fee in pips (1e-6), part of its address; ignored for v2
    /// @param tokenIn token sold by this hop
    /// @param tokenOut token bought by this hop: the order's output, or one a later hop sells
    /// @param amountIn what the plan sells here. Hops that sell the same token stand together; they
    /// share what there is of it in proportion to these amounts, the last one taking the rest, so
    /// that all of it is sold whether more or less arrived than planned
    struct Hop {
        uint8 venue;
        uint24 fee;
        address tokenIn;
        address tokenOut;
        uint256 amountIn;
    }

    /// @param tokenIn token sold, or {NATIVE}; hops name the wrapped token in its place
    /// @param tokenOut token bought, or {NATIVE}
    /// @param amountIn exact input, the sum of the amounts of the hops that stand first
    /// @param minAmountOut least the caller's balance must grow by, after the fee; above zero
    /// @param deadline unix time, seconds, after which the order is void
    /// @param feeBps platform fee on the output, at most {MAX_FEE_BPS}
    /// @param hops one to {MAX_HOPS}, run in order: a token is sold once everything that buys it ran
    struct Swap {
        address tokenIn;
        address tokenOut;
        uint256 amountIn;
        uint256 minAmountOut;
        uint256 deadline;
        uint16 feeBps;
        Hop[] hops;
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

    // Terms of the order
    error DeadlineExpired(uint256 deadline, uint256 timestamp);
    error MinAmountOutZero();
    error FeeTooHigh(uint256 feeBps, uint256 maxFeeBps);
    error SameToken(address token);
    error NativeNotSupported();
    error WrongNativeValue(uint256 expected, uint256 actual);
    error InvalidHopCount(uint256 count);
    error AmountsMismatch(uint256 expected, uint256 actual);
    error WrongInputToken(address expected, address actual);
    error TokenNotSold(address token);
    error AmountTooLarge(uint256 amount);

    // Execution
    error Reentered();
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
    uint256 public constant MAX_HOPS = 24;

    uint256 private constant BPS = 10_000;
    /// Price limits one inside the range a v3 pool accepts, so that the limit never ends a swap
    /// that the pool's liquidity would not have ended.
    uint160 private constant MIN_SQRT_PRICE_LIMIT = 4295128740;
    uint160 private constant MAX_SQRT_PRICE_LIMIT =
        1461446703485210103287273052203988822378723970341;

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
    constructor(ChainVenues[] memory table, address recipient) VenueTable(table) {
        FEE_RECIPIENT = recipient;
    }

    /// @notice Native value comes back only when the wrapped token is redeemed.
    receive() external payable {
        if (msg.sender != WRAPPED_NATIVE) revert UnexpectedNative(msg.sender);
    }

    /// @notice Sells exactly `order.amountIn` of the caller's tokens along the order's hops and
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
            // Wrapped one to one and paid out again to the unit, because the first hops must add up
            // to the input and every hop takes all it is given: nothing can be left to check.
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

    function feeRecipient() external view returns (address) {
        return FEE_RECIPIENT;
    }

    /// @dev What can be refused before anything moves.
    function _requireTerms(Swap calldata order) private view {
        if (block.timestamp > order.deadline) {
            revert DeadlineExpired(order.deadline, block.timestamp);
        }
        if (order.minAmountOut == 0) revert MinAmountOutZero();
        uint256 maxFeeBps = FEE_RECIPIENT == address(0) ? 0 : MAX_FEE_BPS;
        if (order.feeBps > maxFeeBps) revert FeeTooHigh(order.feeBps, maxFeeBps);
        uint256 count = order.hops.length;
        if (count == 0 || count > MAX_HOPS) revert InvalidHopCount(count);
    }

    /// @dev Runs the hops and pays the caller; without a fee and a redemption the pools that sell the
    /// output pay the caller themselves, which saves a transfer.
    /// @param payer pays the first hops
    function _swapAndPay(Swap calldata order, address tokenIn, address tokenOut, address payer)
        private
        returns (uint256 amountOut, uint256 fee)
    {
        if (order.feeBps == 0 && order.tokenOut != NATIVE) {
            uint256 callerBefore = IERC20(tokenOut).balanceOf(msg.sender);
            _runHops(order, tokenIn, tokenOut, payer, msg.sender);
            return (IERC20(tokenOut).balanceOf(msg.sender) - callerBefore, 0);
        }
        uint256 heldBefore = IERC20(tokenOut).balanceOf(address(this));
        _runHops(order, tokenIn, tokenOut, payer, address(this));
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

    /// @dev Token by token: all of one is sold before the next one's turn. No hop buys the input
    /// or sells into a token whose turn is over, so that every token on the way ends as it began.
    function _runHops(
        Swap calldata order,
        address token,
        address tokenOut,
        address payer,
        address recipient
    ) private {
        Hop[] calldata hops = order.hops;
        if (hops[0].tokenIn != token) revert WrongInputToken(token, hops[0].tokenIn);
        uint256[] memory heldBefore = _heldBefore(hops);
        Sale memory sale = Sale(0, 0, order.amountIn, payer, tokenOut, recipient, heldBefore);
        for (;;) {
            uint256 planned;
            (sale.end, planned) = _sellersOf(hops, sale.first);
            if (sale.first == 0 && planned != sale.held) {
                revert AmountsMismatch(sale.held, planned);
            }
            _sell(hops, sale, planned);
            uint256 before = heldBefore[sale.first];
            if (before != 0) _requireHeld(token, before - 1);
            if (sale.end == hops.length) return;

            (sale.first, sale.payer, token) = (sale.end, address(this), hops[sale.end].tokenIn);
            before = heldBefore[sale.first];
            sale.held = before == 0 ? 0 : IERC20(token).balanceOf(address(this)) + 1 - before;
        }
    }

    /// @dev One token's turn.
    /// @param first index of the first hop that sells it
    /// @param end index after the last one
    /// @param held what there is of it; zero where a pair was paid straight
    /// @param payer has it
    /// @param tokenOut of the order
    /// @param recipient of `tokenOut`
    /// @param heldBefore see {_heldBefore}
    struct Sale {
        uint256 first;
        uint256 end;
        uint256 held;
        address payer;
        address tokenOut;
        address recipient;
        uint256[] heldBefore;
    }

    /// @dev Sells all there is of one token, through every pool in proportion to the plan.
    function _sell(Hop[] calldata hops, Sale memory sale, uint256 planned) private {
        uint256 rest = sale.held;
        for (uint256 i = sale.first; i < sale.end; ++i) {
            Hop calldata hop = hops[i];
            uint256 amountIn = rest;
            if (i + 1 < sale.end) {
                amountIn =
                    sale.held == planned ? hop.amountIn : sale.held * hop.amountIn / planned;
            }
            rest -= amountIn;
            (address pool, uint256 word) = _poolOf(hop);
            address to = _destination(hops, i, sale);
            if (_kind(word) == KIND_V2) {
                // A pair that was paid straight has its input already.
                if (amountIn != 0) _pay(hop.tokenIn, sale.payer, pool, amountIn);
                _swapV2(pool, word >> 168, hop.tokenIn, hop.tokenOut, to);
            } else {
                _swapV3(pool, hop.tokenIn, hop.tokenOut, amountIn, sale.payer, to);
            }
        }
    }

    /// @dev Who receives what hop `i` buys: the pair that sells it next, the order's recipient, or
    /// this contract until the token's turn comes. What has no turn any more is refused, so that
    /// nothing can be left here.
    function _destination(Hop[] calldata hops, uint256 i, Sale memory sale)
        private
        view
        returns (address to)
    {
        uint256 next = i + 1;
        if (next == sale.end && next < hops.length && sale.heldBefore[next] == 0) {
            (to,) = _poolOf(hops[next]);
            return to;
        }
        address bought = hops[i].tokenOut;
        if (bought == sale.tokenOut) return sale.recipient;
        for (uint256 j = sale.end; j < hops.length && bought != hops[0].tokenIn; ++j) {
            if (hops[j].tokenIn == bought) return address(this);
        }
        revert TokenNotSold(bought);
    }

    /// @dev Whether the pool of hop `i - 1` pays straight into the pair of hop `i`: it is the only
    /// one to buy the token so far, and the pair the only one to sell it. That saves a transfer.
    function _isPaidStraight(Hop[] calldata hops, uint256 i) private view returns (bool) {
        address token = hops[i].tokenIn;
        if (hops[i - 1].tokenOut != token) return false;
        if (i + 1 < hops.length && hops[i + 1].tokenIn == token) return false;
        (uint256 word,) = _venue(hops[i].venue);
        if (_kind(word) != KIND_V2) return false;
        for (uint256 j; j + 1 < i; ++j) {
            if (hops[j].tokenOut == token) return false;
        }
        return true;
    }

    /// @dev The hops that sell the same token from `first` on.
    /// @return end index after the last of them
    /// @return planned what their amounts add up to
    function _sellersOf(Hop[] calldata hops, uint256 first)
        private
        pure
        returns (uint256 end, uint256 planned)
    {
        address token = hops[first].tokenIn;
        for (end = first; end < hops.length && hops[end].tokenIn == token; ++end) {
            planned += hops[end].amountIn;
        }
    }

    /// @dev What this contract holds of each token on the way before the swap, plus one, by the
    /// index of the first hop that sells it; zero where the token never comes here.
    function _heldBefore(Hop[] calldata hops) private view returns (uint256[] memory held) {
        held = new uint256[](hops.length);
        for (uint256 i = 1; i < hops.length; ++i) {
            address token = hops[i].tokenIn;
            if (token == hops[i - 1].tokenIn || _isPaidStraight(hops, i)) continue;
            held[i] = IERC20(token).balanceOf(address(this)) + 1;
        }
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

    function _poolOf(Hop calldata hop) private view returns (address pool, uint256 word) {
        return _pool(hop.venue, hop.tokenIn, hop.tokenOut, hop.fee);
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
}
