// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IMessageTransmitterV2 {
    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external;
}

interface ITokenMinterV2 {
    function burn(address token, uint256 amount) external;
    function mint(
        uint32 sourceDomain,
        bytes32 burnToken,
        address recipientOne,
        address recipientTwo,
        uint256 amountOne,
        uint256 amountTwo
    ) external returns (address);
}

interface ITransferableToken {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// @title Local stand-in of CCTP's TokenMessengerV2
/// @notice Burns and mints under the real rules and with the real revert strings. Burn body:
/// version 0, burnToken 4, mintRecipient 36, amount 68, messageSender 100, maxFee 132,
/// feeExecuted 164, expirationBlock 196, hookData 228 (offsets in bytes, big-endian).
contract TestTokenMessengerV2 {
    uint32 public constant messageBodyVersion = 1;
    uint256 public constant MIN_FEE_MULTIPLIER = 10_000_000;
    uint256 private constant HOOK_OFFSET = 228;
    uint32 private constant TOKEN_MESSENGER_MIN_FINALITY_THRESHOLD = 500;

    address public immutable owner;
    address public immutable localMessageTransmitter;
    address public immutable localMinter;
    address public immutable feeRecipient;
    /// Smallest fee of a burn, in 1 / MIN_FEE_MULTIPLIER of the amount.
    uint256 public minFee;

    mapping(uint32 domain => bytes32) public remoteTokenMessengers;
    mapping(address account => bool) public isDenylisted;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );

    struct Burn {
        uint256 amount;
        uint32 destinationDomain;
        bytes32 mintRecipient;
        address burnToken;
        bytes32 destinationCaller;
        uint256 maxFee;
        uint32 minFinalityThreshold;
    }

    constructor(address owner_, address transmitter, address minter, address feeRecipient_) {
        owner = owner_;
        localMessageTransmitter = transmitter;
        localMinter = minter;
        feeRecipient = feeRecipient_;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    function addRemoteTokenMessenger(uint32 domain, bytes32 tokenMessenger) external onlyOwner {
        remoteTokenMessengers[domain] = tokenMessenger;
    }

    function setMinFee(uint256 minFee_) external onlyOwner {
        minFee = minFee_;
    }

    function setDenylisted(address account, bool denied) external onlyOwner {
        isDenylisted[account] = denied;
    }

    function getMinFeeAmount(uint256 amount) public view returns (uint256) {
        if (minFee == 0) return 0;
        require(amount > 1, "Amount too low");
        uint256 fee = (amount * minFee) / MIN_FEE_MULTIPLIER;
        return fee == 0 ? 1 : fee;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        Burn memory burn = Burn(
            amount,
            destinationDomain,
            mintRecipient,
            burnToken,
            destinationCaller,
            maxFee,
            minFinalityThreshold
        );
        _depositForBurn(burn, "");
    }

    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external {
        require(hookData.length > 0, "Hook data is empty");
        Burn memory burn = Burn(
            amount,
            destinationDomain,
            mintRecipient,
            burnToken,
            destinationCaller,
            maxFee,
            minFinalityThreshold
        );
        _depositForBurn(burn, hookData);
    }

    function handleReceiveFinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32,
        bytes calldata messageBody
    ) external returns (bool) {
        _mint(sourceDomain, sender, messageBody);
        return true;
    }

    function handleReceiveUnfinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external returns (bool) {
        require(
            finalityThresholdExecuted >= TOKEN_MESSENGER_MIN_FINALITY_THRESHOLD,
            "Unsupported finality threshold"
        );
        _mint(sourceDomain, sender, messageBody);
        return true;
    }

    function _depositForBurn(Burn memory burn, bytes memory hookData) private {
        require(!isDenylisted[msg.sender], "Denylistable: account is on denylist");
        require(burn.amount > 0, "Amount must be nonzero");
        require(burn.mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(burn.maxFee < burn.amount, "Max fee must be less than amount");
        require(burn.maxFee >= getMinFeeAmount(burn.amount), "Insufficient max fee");
        bytes32 remote = remoteTokenMessengers[burn.destinationDomain];
        require(remote != bytes32(0), "No TokenMessenger for domain");

        require(
            ITransferableToken(burn.burnToken).transferFrom(msg.sender, localMinter, burn.amount),
            "Transfer operation failed"
        );
        ITokenMinterV2(localMinter).burn(burn.burnToken, burn.amount);
        IMessageTransmitterV2(localMessageTransmitter).sendMessage(
            burn.destinationDomain,
            remote,
            burn.destinationCaller,
            burn.minFinalityThreshold,
            _body(burn, hookData)
        );
        emit DepositForBurn(
            burn.burnToken,
            burn.amount,
            msg.sender,
            burn.mintRecipient,
            burn.destinationDomain,
            remote,
            burn.destinationCaller,
            burn.maxFee,
            burn.minFinalityThreshold,
            hookData
        );
    }

    function _body(Burn memory burn, bytes memory hookData) private view returns (bytes memory) {
        return abi.encodePacked(
            messageBodyVersion,
            bytes32(uint256(uint160(burn.burnToken))),
            burn.mintRecipient,
            burn.amount,
            bytes32(uint256(uint160(msg.sender))),
            burn.maxFee,
            uint256(0),
            uint256(0),
            hookData
        );
    }

    function _mint(uint32 sourceDomain, bytes32 sender, bytes calldata body) private {
        require(msg.sender == localMessageTransmitter, "Invalid message transmitter");
        require(
            sender != bytes32(0) && remoteTokenMessengers[sourceDomain] == sender,
            "Remote TokenMessenger unsupported"
        );
        require(body.length >= HOOK_OFFSET, "Invalid burn message: too short");
        require(uint32(bytes4(body[0:4])) == messageBodyVersion, "Invalid message body version");
        uint256 expiration = uint256(bytes32(body[196:228]));
        require(
            expiration == 0 || expiration > block.number, "Message expired and must be re-signed"
        );
        (uint256 amount, uint256 fee) = (uint256(bytes32(body[68:100])), uint256(bytes32(body[164:196])));
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        address recipient = address(uint160(uint256(bytes32(body[36:68]))));
        address token = ITokenMinterV2(localMinter).mint(
            sourceDomain, bytes32(body[4:36]), recipient, feeRecipient, amount - fee, fee
        );
        emit MintAndWithdraw(recipient, amount - fee, token, fee);
    }
}
