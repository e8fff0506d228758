// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice An ERC-20 whose numbers are kept as its heirs please. Anyone may mint.
abstract contract OddToken {
    function balanceOf(address account) public view virtual returns (uint256);
    function allowance(address holder, address spender) public view virtual returns (uint256);
    function _setBalance(address account, uint256 amount) internal virtual;
    function _setAllowance(address holder, address spender, uint256 amount) internal virtual;

    function mint(address to, uint256 amount) external {
        _setBalance(to, balanceOf(to) + amount);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        _setAllowance(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        _setAllowance(from, msg.sender, allowance(from, msg.sender) - amount);
        return _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        _setBalance(from, balanceOf(from) - amount);
        _setBalance(to, balanceOf(to) + amount);
        return true;
    }
}
