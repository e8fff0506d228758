// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IMintableToken {
    function mint(address to, uint256 amount) external returns (bool);
    function burn(uint256 amount) external;
}

/// @title Local stand-in of CCTP's TokenMinterV2
/// @notice Mints and burns for one TokenMessengerV2; knows which remote token a local one is.
contract TestTokenMinterV2 {
    address public immutable owner;
    address public localTokenMessenger;

    /// Most that one message may burn of a token; 0: the token is not supported.
    mapping(address token => uint256) public burnLimitsPerMessage;
    mapping(bytes32 remote => address) private _localTokens;

    constructor(address owner_) {
        owner = owner_;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier onlyLocalTokenMessenger() {
        require(msg.sender == localTokenMessenger, "Caller not local TokenMessenger");
        _;
    }

    function addLocalTokenMessenger(address tokenMessenger) external onlyOwner {
        localTokenMessenger = tokenMessenger;
    }

    function setMaxBurnAmountPerMessage(address token, uint256 limit) external onlyOwner {
        burnLimitsPerMessage[token] = limit;
    }

    function linkTokenPair(address localToken, uint32 remoteDomain, bytes32 remoteToken)
        external
        onlyOwner
    {
        _localTokens[keccak256(abi.encodePacked(remoteDomain, remoteToken))] = localToken;
    }

    function getLocalToken(uint32 remoteDomain, bytes32 remoteToken)
        public
        view
        returns (address)
    {
        return _localTokens[keccak256(abi.encodePacked(remoteDomain, remoteToken))];
    }

    function mint(
        uint32 sourceDomain,
        bytes32 burnToken,
        address recipientOne,
        address recipientTwo,
        uint256 amountOne,
        uint256 amountTwo
    ) external onlyLocalTokenMessenger returns (address) {
        address token = getLocalToken(sourceDomain, burnToken);
        require(token != address(0), "Mint token not supported");
        require(IMintableToken(token).mint(recipientOne, amountOne), "First mint operation failed");
        if (amountTwo > 0) {
            require(
                IMintableToken(token).mint(recipientTwo, amountTwo), "Second mint operation failed"
            );
        }
        return token;
    }

    function burn(address token, uint256 amount) external onlyLocalTokenMessenger {
        uint256 limit = burnLimitsPerMessage[token];
        require(limit > 0, "Burn token not supported");
        require(amount <= limit, "Burn amount exceeds per tx limit");
        IMintableToken(token).burn(amount);
    }
}
