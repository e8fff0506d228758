// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedToken} from "./PackedToken.sol";

/// @notice All code is elsewhere, all storage here.
contract ProxyToken {
    bytes32 private constant IMPLEMENTATION =
        0x360894a13ba1a3210667c828492db98dca3e2076cc3735a50ea5305e1e0d3e7f;

    constructor() {
        address implementation = address(new PackedToken());
        assembly { sstore(IMPLEMENTATION, implementation) }
    }

    fallback() external {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(IMPLEMENTATION), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
