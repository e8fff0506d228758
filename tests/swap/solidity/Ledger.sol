// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice Keeps the numbers of another contract.
contract Ledger {
    mapping(bytes32 key => uint256) private numbers;

    function read(bytes32 key) external view returns (uint256) {
        return numbers[key];
    }

    function write(bytes32 key, uint256 number) external {
        numbers[key] = number;
    }
}
