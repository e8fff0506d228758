// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Price feed with the interface of Chainlink's aggregators, for local chains
/// @notice The owner submits rounds; they are dated by the submitter, so that old ones can be played.
contract TestAggregatorV3 {
    struct Round {
        int256 answer;
        uint256 updatedAt;
    }

    uint8 public constant decimals = 8;
    uint256 public constant version = 4;

    address public immutable owner;
    string public description;
    uint80 public latestRound;
    mapping(uint80 roundId => Round) private _rounds;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NotOwner();

    constructor(address owner_, string memory description_) {
        owner = owner_;
        description = description_;
    }

    /// @param answer Price in USD with 8 decimals; what a broken feed would say is accepted
    function submit(int256 answer, uint256 updatedAt) external {
        if (msg.sender != owner) revert NotOwner();
        uint80 roundId = ++latestRound;
        _rounds[roundId] = Round(answer, updatedAt);
        emit AnswerUpdated(answer, roundId, updatedAt);
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return getRoundData(latestRound);
    }

    function getRoundData(uint80 wanted)
        public
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        Round memory round = _rounds[wanted];
        require(round.updatedAt != 0, "No data present");
        return (wanted, round.answer, round.updatedAt, round.updatedAt, wanted);
    }
}
