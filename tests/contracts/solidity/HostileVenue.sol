// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IToken {
    function transfer(address to, uint256 amount) external returns (bool);
}

interface ICallback {
    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external;
}

/// @notice A v3-like pool that pays one for one and collects as its mode says.
contract HostilePool {
    enum Mode {
        Honest,
        AsksTwiceAsMuch,
        CallsTwice,
        NeverCalls,
        AsksLess,
        AsksNothing,
        SendsAnAccomplice,
        PaysNothing
    }

    address public immutable token0;
    address public immutable token1;
    Mode public mode;

    constructor() {
        (token0, token1) = HostileVenue(msg.sender).pair();
    }

    function setMode(Mode value) external {
        mode = value;
    }

    function swap(address recipient, bool zeroForOne, int256 amount, uint160, bytes calldata)
        external
        returns (int256, int256)
    {
        if (mode != Mode.PaysNothing) {
            IToken(zeroForOne ? token1 : token0).transfer(recipient, uint256(amount));
        }
        int256 asked = amount;
        if (mode == Mode.AsksTwiceAsMuch) asked = 2 * amount;
        if (mode == Mode.AsksLess) asked = amount - 1;
        if (mode == Mode.AsksNothing) asked = 0;
        if (mode == Mode.SendsAnAccomplice) new Accomplice().call(msg.sender, asked);
        if (mode != Mode.NeverCalls) _collect(zeroForOne, asked);
        if (mode == Mode.CallsTwice) _collect(zeroForOne, asked);
        return zeroForOne ? (asked, -amount) : (-amount, asked);
    }

    function _collect(bool zeroForOne, int256 asked) private {
        (int256 amount0, int256 amount1) = zeroForOne ? (asked, -asked) : (-asked, asked);
        ICallback(msg.sender).uniswapV3SwapCallback(amount0, amount1, "");
    }
}

contract Accomplice {
    function call(address executor, int256 amount) external {
        ICallback(executor).uniswapV3SwapCallback(amount, amount, "");
    }
}

/// @notice Factory whose pools have the addresses a v3 factory would give them.
contract HostileVenue {
    address private token0;
    address private token1;
    address public lastPool;

    function pair() external view returns (address, address) {
        return (token0, token1);
    }

    function create(address first, address second, uint24 fee) external {
        (token0, token1) = first < second ? (first, second) : (second, first);
        lastPool = address(new HostilePool{salt: keccak256(abi.encode(token0, token1, fee))}());
    }

    function initCodeHash() external pure returns (bytes32) {
        return keccak256(type(HostilePool).creationCode);
    }
}
