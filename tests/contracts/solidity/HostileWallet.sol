// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice A contract that calls what it is told to, and answers native value with a prepared call
/// or, without one, refuses it.
contract HostileWallet {
    address private answerTarget;
    bytes private answerData;

    struct Call {
        address target;
        bytes data;
    }

    function runAll(Call[] calldata calls) external {
        for (uint256 i; i < calls.length; ++i) {
            (bool success,) = calls[i].target.call(calls[i].data);
            require(success, "call failed");
        }
    }

    function prepare(address target, bytes calldata data) external {
        (answerTarget, answerData) = (target, data);
    }

    receive() external payable {
        require(answerTarget != address(0), "refused");
        (bool success,) = answerTarget.call(answerData);
        require(success, "answer failed");
    }
}
