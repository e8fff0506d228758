// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title ERC-20 whose supply is managed by minters that an owner appoints
/// @notice Common part of the local tokens. A minter mints up to its allowance and burns from its
/// own balance, which is the contract a bridge needs with a token.
abstract contract MintableERC20 {
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable owner;
    uint256 public totalSupply;

    mapping(address account => uint256) public balanceOf;
    mapping(address holder => mapping(address spender => uint256)) public allowance;
    /// Whether an account may mint and burn.
    mapping(address minter => bool) public isMinter;
    /// What a minter may still mint.
    mapping(address minter => uint256) public minterAllowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);
    event MinterRemoved(address indexed oldMinter);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Burn(address indexed burner, uint256 amount);

    error NotOwner(address caller);
    error NotMinter(address caller);
    error ZeroAddress();
    error MintAllowanceExceeded(uint256 allowed, uint256 amount);
    error InsufficientBalance(address account, uint256 balance, uint256 amount);
    error InsufficientAllowance(address spender, uint256 allowed, uint256 amount);

    modifier onlyMinter() {
        if (!isMinter[msg.sender]) revert NotMinter(msg.sender);
        _;
    }

    constructor(string memory name_, string memory symbol_, uint8 decimals_, address owner_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
        owner = owner_;
    }

    /// @notice Appoints a minter, or sets what it may still mint.
    function configureMinter(address minter, uint256 minterAllowedAmount) external returns (bool) {
        _requireOwner();
        isMinter[minter] = true;
        minterAllowance[minter] = minterAllowedAmount;
        emit MinterConfigured(minter, minterAllowedAmount);
        return true;
    }

    function removeMinter(address minter) external returns (bool) {
        _requireOwner();
        isMinter[minter] = false;
        minterAllowance[minter] = 0;
        emit MinterRemoved(minter);
        return true;
    }

    function mint(address to, uint256 amount) external onlyMinter returns (bool) {
        uint256 allowed = minterAllowance[msg.sender];
        if (amount > allowed) revert MintAllowanceExceeded(allowed, amount);
        if (to == address(0)) revert ZeroAddress();
        minterAllowance[msg.sender] = allowed - amount;
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
        return true;
    }

    /// @notice Destroys tokens of the calling minter.
    function burn(uint256 amount) external onlyMinter {
        uint256 balance = balanceOf[msg.sender];
        if (amount > balance) revert InsufficientBalance(msg.sender, balance, amount);
        balanceOf[msg.sender] = balance - amount;
        totalSupply -= amount;
        emit Burn(msg.sender, amount);
        emit Transfer(msg.sender, address(0), amount);
    }

    function _move(address from, address to, uint256 amount) internal {
        if (to == address(0)) revert ZeroAddress();
        uint256 balance = balanceOf[from];
        if (amount > balance) revert InsufficientBalance(from, balance, amount);
        balanceOf[from] = balance - amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }

    /// @dev An allowance of 2^256 - 1 is not used up.
    function _spendAllowance(address holder, address spender, uint256 amount) internal {
        uint256 allowed = allowance[holder][spender];
        if (allowed == type(uint256).max) return;
        if (amount > allowed) revert InsufficientAllowance(spender, allowed, amount);
        allowance[holder][spender] = allowed - amount;
    }

    function _approve(address holder, address spender, uint256 amount) internal {
        allowance[holder][spender] = amount;
        emit Approval(holder, spender, amount);
    }

    function _requireOwner() private view {
        if (msg.sender != owner) revert NotOwner(msg.sender);
    }
}
