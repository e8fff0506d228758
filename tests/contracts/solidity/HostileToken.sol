// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice An ERC-20 that misbehaves on request. Anyone may mint and change its behaviour.
contract HostileToken {
    mapping(address account => uint256) public balanceOf;
    mapping(address holder => mapping(address spender => uint256)) public allowance;

    bool public returnsFalse;
    /// Taken from what arrives, bps.
    uint256 public taxBps;
    /// Taken from the sender on top of the amount.
    uint256 public surcharge;
    /// Can't receive.
    address public blocked;

    /// Called once, on the next transfer that touches `hookFor`.
    address private hookTarget;
    address private hookFor;
    bytes private hookData;
    bool public hookRan;
    bytes4 public hookError;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function setReturnsFalse(bool value) external {
        returnsFalse = value;
    }

    function setTax(uint256 bps) external {
        taxBps = bps;
    }

    function setSurcharge(uint256 amount) external {
        surcharge = amount;
    }

    function setBlocked(address account) external {
        blocked = account;
    }

    /// @notice Behaves again.
    function reset() external {
        (returnsFalse, taxBps, surcharge, blocked) = (false, 0, 0, address(0));
        hookTarget = address(0);
    }

    function arm(address target, address account, bytes calldata data) external {
        (hookTarget, hookFor, hookData, hookRan, hookError) = (target, account, data, false, 0);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        require(to != blocked, "blocked");
        if (returnsFalse) return false;
        balanceOf[from] -= amount + surcharge;
        balanceOf[to] += amount - amount * taxBps / 10_000;
        if (hookTarget != address(0) && (from == hookFor || to == hookFor)) {
            address target = hookTarget;
            hookTarget = address(0);
            (bool success, bytes memory answer) = target.call(hookData);
            hookRan = true;
            if (!success) hookError = bytes4(answer);
        }
        return true;
    }
}
