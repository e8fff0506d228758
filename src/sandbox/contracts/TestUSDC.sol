// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {MintableERC20} from "./MintableERC20.sol";
import {StandardERC20} from "./StandardERC20.sol";

interface IERC1271 {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// @title Local USDC: 6 decimals, EIP-2612 permit and EIP-3009 authorizations
/// @notice Each signed call exists twice, as in the real one: with v, r, s, and with bytes, which
/// contract wallets (EIP-1271) can sign too.
contract TestUSDC is StandardERC20 {
    string public constant version = "2";

    bytes32 public constant PERMIT_TYPEHASH = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    /// Half the curve's order; a higher s is the mirrored form of a signature (EIP-2).
    uint256 private constant MAX_S =
        0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    /// EIP-2612 nonces.
    mapping(address holder => uint256) public nonces;
    /// Whether an EIP-3009 authorization was used or cancelled.
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    error PermitExpired(uint256 deadline);
    error InvalidSignature();
    error CallerNotPayee(address caller, address payee);
    error AuthorizationNotYetValid(uint256 validAfter);
    error AuthorizationExpired(uint256 validBefore);
    error AuthorizationAlreadyUsed(address authorizer, bytes32 nonce);

    constructor(address owner) MintableERC20("USD Coin", "USDC", 6, owner) {}

    /// @notice EIP-712 domain. Computed at each call, so one build holds on every chain.
    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                DOMAIN_TYPEHASH,
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                block.chainid,
                address(this)
            )
        );
    }

    function permit(
        address holder,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _permit(holder, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    function permit(
        address holder,
        address spender,
        uint256 value,
        uint256 deadline,
        bytes memory signature
    ) external {
        _permit(holder, spender, value, deadline, signature);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        bytes memory signature = abi.encodePacked(r, s, v);
        bytes32 kind = TRANSFER_WITH_AUTHORIZATION_TYPEHASH;
        _moveAuthorized(kind, from, to, value, validAfter, validBefore, nonce, signature);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        bytes32 kind = TRANSFER_WITH_AUTHORIZATION_TYPEHASH;
        _moveAuthorized(kind, from, to, value, validAfter, validBefore, nonce, signature);
    }

    /// @notice As {transferWithAuthorization}, for the payee only, so nobody can send it ahead of
    /// the payee's own transaction.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        if (msg.sender != to) revert CallerNotPayee(msg.sender, to);
        bytes memory signature = abi.encodePacked(r, s, v);
        bytes32 kind = RECEIVE_WITH_AUTHORIZATION_TYPEHASH;
        _moveAuthorized(kind, from, to, value, validAfter, validBefore, nonce, signature);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        if (msg.sender != to) revert CallerNotPayee(msg.sender, to);
        bytes32 kind = RECEIVE_WITH_AUTHORIZATION_TYPEHASH;
        _moveAuthorized(kind, from, to, value, validAfter, validBefore, nonce, signature);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)
        external
    {
        _cancel(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature)
        external
    {
        _cancel(authorizer, nonce, signature);
    }

    function _permit(
        address holder,
        address spender,
        uint256 value,
        uint256 deadline,
        bytes memory signature
    ) private {
        if (block.timestamp > deadline) revert PermitExpired(deadline);
        bytes memory message =
            abi.encode(PERMIT_TYPEHASH, holder, spender, value, nonces[holder]++, deadline);
        _requireSigned(holder, keccak256(message), signature);
        _approve(holder, spender, value);
    }

    function _moveAuthorized(
        bytes32 kind,
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private {
        if (block.timestamp <= validAfter) revert AuthorizationNotYetValid(validAfter);
        if (block.timestamp >= validBefore) revert AuthorizationExpired(validBefore);
        _useNonce(from, nonce);
        bytes memory message = abi.encode(kind, from, to, value, validAfter, validBefore, nonce);
        _requireSigned(from, keccak256(message), signature);
        emit AuthorizationUsed(from, nonce);
        _move(from, to, value);
    }

    function _cancel(address authorizer, bytes32 nonce, bytes memory signature) private {
        _useNonce(authorizer, nonce);
        bytes memory message = abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce);
        _requireSigned(authorizer, keccak256(message), signature);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _useNonce(address authorizer, bytes32 nonce) private {
        if (authorizationState[authorizer][nonce]) {
            revert AuthorizationAlreadyUsed(authorizer, nonce);
        }
        authorizationState[authorizer][nonce] = true;
    }

    function _requireSigned(address signer, bytes32 structHash, bytes memory signature)
        private
        view
    {
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), structHash));
        bool valid = signer.code.length == 0
            ? _isSignedByKey(signer, digest, signature)
            : _isSignedByContract(signer, digest, signature);
        if (!valid) revert InvalidSignature();
    }

    function _isSignedByKey(address signer, bytes32 digest, bytes memory signature)
        private
        pure
        returns (bool)
    {
        if (signature.length != 65) return false;
        (bytes32 r, bytes32 s) = (_word(signature, 0), _word(signature, 32));
        if (uint256(s) > MAX_S) return false;
        address recovered = ecrecover(digest, uint8(signature[64]), r, s);
        return recovered != address(0) && recovered == signer;
    }

    function _isSignedByContract(address signer, bytes32 digest, bytes memory signature)
        private
        view
        returns (bool)
    {
        (bool success, bytes memory answer) =
            signer.staticcall(abi.encodeCall(IERC1271.isValidSignature, (digest, signature)));
        return success && answer.length >= 32
            && bytes4(_word(answer, 0)) == IERC1271.isValidSignature.selector;
    }

    function _word(bytes memory data, uint256 offset) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 32), offset))
        }
    }
}
