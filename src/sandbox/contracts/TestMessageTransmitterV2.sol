// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IMessageHandlerV2 {
    function handleReceiveFinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external returns (bool);

    function handleReceiveUnfinalizedMessage(
        uint32 sourceDomain,
        bytes32 sender,
        uint32 finalityThresholdExecuted,
        bytes calldata messageBody
    ) external returns (bool);
}

/// @title Local stand-in of CCTP's MessageTransmitterV2
/// @notice Sends and receives messages in the real layout, under the real checks and with the real
/// revert strings. Message: version 0, sourceDomain 4, destinationDomain 8, nonce 12, sender 44,
/// recipient 76, destinationCaller 108, minFinalityThreshold 140, finalityThresholdExecuted 144,
/// body 148 (offsets in bytes, big-endian).
contract TestMessageTransmitterV2 {
    uint32 public constant version = 1;
    uint256 public constant maxMessageBodySize = 8192;
    uint256 private constant BODY_OFFSET = 148;
    uint256 private constant SIGNATURE_LENGTH = 65;
    uint32 private constant FINALITY_THRESHOLD_FINALIZED = 2000;
    /// Half the curve's order; a higher s is the mirrored form of a signature (EIP-2).
    uint256 private constant MAX_S =
        0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    uint32 public immutable localDomain;
    address public immutable owner;
    uint256 public immutable signatureThreshold;
    bool public paused;

    /// 1 once a message with this nonce was received.
    mapping(bytes32 nonce => uint256) public usedNonces;
    mapping(address attester => bool) public isEnabledAttester;
    address[] private _attesters;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    constructor(uint32 localDomain_, address owner_, address[] memory attesters, uint256 threshold) {
        localDomain = localDomain_;
        owner = owner_;
        signatureThreshold = threshold;
        _attesters = attesters;
        for (uint256 i = 0; i < attesters.length; i++) isEnabledAttester[attesters[i]] = true;
    }

    function getNumEnabledAttesters() external view returns (uint256) {
        return _attesters.length;
    }

    function getEnabledAttester(uint256 index) external view returns (address) {
        return _attesters[index];
    }

    function setPaused(bool paused_) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        paused = paused_;
    }

    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external {
        require(!paused, "Pausable: paused");
        require(destinationDomain != localDomain, "Domain is local domain");
        require(messageBody.length <= maxMessageBodySize, "Message body exceeds max size");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        emit MessageSent(
            abi.encodePacked(
                version,
                localDomain,
                destinationDomain,
                bytes32(0),
                bytes32(uint256(uint160(msg.sender))),
                recipient,
                destinationCaller,
                minFinalityThreshold,
                uint32(0),
                messageBody
            )
        );
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation)
        external
        returns (bool)
    {
        require(!paused, "Pausable: paused");
        _verifySignatures(message, attestation);
        require(message.length >= BODY_OFFSET, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 destinationCaller = bytes32(message[108:140]);
        require(
            destinationCaller == bytes32(0)
                || destinationCaller == bytes32(uint256(uint160(msg.sender))),
            "Invalid caller for message"
        );
        require(uint32(bytes4(message[0:4])) == version, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        _deliver(message);
        emit MessageReceived(
            msg.sender,
            uint32(bytes4(message[4:8])),
            nonce,
            bytes32(message[44:76]),
            uint32(bytes4(message[144:148])),
            message[BODY_OFFSET:]
        );
        return true;
    }

    function _deliver(bytes calldata message) private {
        uint32 sourceDomain = uint32(bytes4(message[4:8]));
        uint32 executed = uint32(bytes4(message[144:148]));
        bytes32 sender = bytes32(message[44:76]);
        IMessageHandlerV2 handler = IMessageHandlerV2(address(uint160(uint256(bytes32(message[76:108])))));
        bytes calldata body = message[BODY_OFFSET:];
        bool handled = executed >= FINALITY_THRESHOLD_FINALIZED
            ? handler.handleReceiveFinalizedMessage(sourceDomain, sender, executed, body)
            : handler.handleReceiveUnfinalizedMessage(sourceDomain, sender, executed, body);
        require(handled, "handleReceiveMessage() failed");
    }

    /// @dev Signatures over the raw hash, one per attester, exactly as many as the threshold, in
    /// ascending order of the signers' addresses.
    function _verifySignatures(bytes calldata message, bytes calldata attestation) private view {
        require(
            attestation.length == SIGNATURE_LENGTH * signatureThreshold, "Invalid attestation length"
        );
        bytes32 digest = keccak256(message);
        address latest = address(0);
        for (uint256 i = 0; i < signatureThreshold; i++) {
            bytes calldata signature =
                attestation[i * SIGNATURE_LENGTH:(i + 1) * SIGNATURE_LENGTH];
            address signer = _recover(digest, signature);
            require(signer > latest, "Invalid signature order or dupe");
            require(isEnabledAttester[signer], "Invalid signature: not attester");
            latest = signer;
        }
    }

    function _recover(bytes32 digest, bytes calldata signature) private pure returns (address) {
        bytes32 s = bytes32(signature[32:64]);
        require(uint256(s) <= MAX_S, "ECDSA: invalid signature 's' value");
        address signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), s);
        require(signer != address(0), "ECDSA: invalid signature");
        return signer;
    }
}
