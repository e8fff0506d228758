import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  encodeFunctionData,
  type Hex,
  parseEventLogs,
  type PublicClient,
  zeroHash,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { messageTransmitterAbi, tokenMessengerAbi, usdcAbi } from "../abi.ts";
import { type SignedAuthorization, signedAuthorization } from "../authorization.ts";
import type { Attested, BridgeNetwork, MintTrial, Transfer } from "../network.ts";
import type { CctpNetwork } from "../words.ts";
import { receiptOf } from "./client.ts";
import { currentFees } from "./gas.ts";
import { provesMint } from "./proof.ts";
import type { Call, EvmSender } from "./sender.ts";

/**
 * Gas limits: about twice what the contracts use, and more for a pull, whose signature a contract
 * wallet may check; what is not used is not paid.
 */
const GAS = { approve: 120_000n, burn: 350_000n, pull: 500_000n, mint: 500_000n };

/** Nodes answer `eth_getLogs` over at most 10,000 blocks. */
const LOG_RANGE_BLOCKS = 9_000n;
/** Ranges looked through per check. */
const MAX_LOG_RANGES = 40;

export interface EvmNetworkDependencies {
  readonly network: CctpNetwork;
  readonly account: PrivateKeyAccount;
  readonly client: PublicClient;
  readonly sender: EvmSender;
}

/** An EVM network with CCTP V2. */
export function createEvmNetwork(deps: EvmNetworkDependencies): BridgeNetwork {
  const { network, account, client, sender } = deps;
  const usdc = network.usdc as Address;
  const messenger = network.tokenMessenger as Address;
  const transmitter = network.messageTransmitter as Address;

  async function minted(hash: Hex, attested: Attested): Promise<boolean> {
    const receipt = await receiptOf(client, hash);
    return receipt?.status === "success" && provesMint(receipt.logs, network, attested);
  }

  /** Looks for the log of our nonce from the head backwards, down to where it cannot be. */
  async function searchMint(fromBlock: bigint, attested: Attested): Promise<Hex | undefined> {
    let toBlock = await client.getBlockNumber();
    for (let range = 0; range < MAX_LOG_RANGES && toBlock >= fromBlock; range++) {
      const low = toBlock - LOG_RANGE_BLOCKS;
      const logs = await client.getContractEvents({
        address: transmitter,
        abi: messageTransmitterAbi,
        eventName: "MessageReceived",
        args: { nonce: attested.message.nonce },
        fromBlock: low > fromBlock ? low : fromBlock,
        toBlock,
      });
      for (const { transactionHash } of logs) {
        if (await minted(transactionHash, attested)) return transactionHash;
      }
      toBlock = low - 1n;
    }
    return undefined;
  }

  return {
    chain: network.chain,
    broadcast: sender.broadcast,
    settle: sender.settle,
    head: async () => Number(await client.getBlockNumber()),

    async wallet() {
      const [balance, native, fees, isPaused, isDenied] = await Promise.all([
        client.readContract({
          address: usdc,
          abi: usdcAbi,
          functionName: "balanceOf",
          args: [account.address],
        }),
        client.getBalance({ address: account.address }),
        currentFees(client),
        client.readContract({
          address: transmitter,
          abi: messageTransmitterAbi,
          functionName: "paused",
        }),
        client.readContract({
          address: messenger,
          abi: tokenMessengerAbi,
          functionName: "isDenylisted",
          args: [account.address],
        }),
      ]);
      const refusal = isPaused ? "CCTP is paused" : isDenied ? "the operator is denied" : undefined;
      const gasCost = (GAS.approve + GAS.burn + GAS.pull) * fees.maxFeePerGas;
      return { usdc: balance, paysGas: native >= gasCost, refusal };
    },

    async acceptsPull(authorization, amountAtomic) {
      try {
        await client.simulateContract({
          account: account.address,
          address: usdc,
          abi: usdcAbi,
          functionName: "receiveWithAuthorization",
          args: pullArgs(authorization, account.address, amountAtomic),
        });
        return true;
      } catch (error) {
        revertOf(error);
        return false;
      }
    },

    async signPull(transfer) {
      const args = pullArgs(signedAuthorization(transfer), account.address, transfer.amount);
      const functionName = "receiveWithAuthorization";
      const data = encodeFunctionData({ abi: usdcAbi, functionName, args });
      return sender.sign(transfer.id, [{ purpose: "pull", to: usdc, data, gas: GAS.pull }]);
    },

    async signBurn(transfer, destinationDomain) {
      return sender.sign(transfer.id, burnCalls(network, transfer, destinationDomain));
    },

    async messageIndex(transfer, hash) {
      const receipt = await receiptOf(client, hash as Hex);
      if (receipt?.status !== "success") return undefined;
      const sent = parseEventLogs({
        abi: messageTransmitterAbi,
        eventName: "MessageSent",
        logs: receipt.logs,
      });
      const recipient = transfer.mintRecipient.slice(2).toLowerCase();
      const index = sent.findIndex(({ args }) => args.message.toLowerCase().includes(recipient));
      return index === -1 ? undefined : index;
    },

    async tryMint(_transfer, { bytes, attestation }) {
      try {
        await client.simulateContract({
          account: account.address,
          address: transmitter,
          abi: messageTransmitterAbi,
          functionName: "receiveMessage",
          args: [bytes, attestation],
        });
        return { kind: "ready" };
      } catch (error) {
        return judgeRevert(error);
      }
    },

    async signMint(transfer, { bytes, attestation }) {
      const data = encodeFunctionData({
        abi: messageTransmitterAbi,
        functionName: "receiveMessage",
        args: [bytes, attestation],
      });
      const call: Call = { purpose: "mint", to: transmitter, data, gas: GAS.mint };
      return sender.sign(transfer.id, [call]);
    },

    signReclaim: async () => [],

    async findMint(transfer, attested, hint) {
      if (hint && /^0x[0-9a-fA-F]{64}$/.test(hint) && (await minted(hint as Hex, attested))) {
        return hint.toLowerCase();
      }
      const used = await client.readContract({
        address: transmitter,
        abi: messageTransmitterAbi,
        functionName: "usedNonces",
        args: [attested.message.nonce],
      });
      if (used === 0n) return undefined;
      return searchMint(BigInt(transfer.destinationBlock), attested);
    },
  };
}

function pullArgs(
  { sender, validAfter, validBefore, nonce, signature }: SignedAuthorization,
  operator: Address,
  amountAtomic: bigint,
) {
  return [sender, operator, amountAtomic, validAfter, validBefore, nonce, signature] as const;
}

/** The exact allowance, then the burn that uses it up; nonces keep them in this order. */
function burnCalls(network: CctpNetwork, transfer: Transfer, destinationDomain: number): Call[] {
  const usdc = network.usdc as Address;
  const messenger = network.tokenMessenger as Address;
  const amount = transfer.amount + transfer.maxFee;
  const args = [
    amount,
    destinationDomain,
    transfer.mintRecipient as Hex,
    usdc,
    zeroHash,
    transfer.maxFee,
    transfer.minFinalityThreshold,
  ] as const;
  const hookData = transfer.hookData as Hex;
  const burn =
    hookData === "0x"
      ? encodeFunctionData({ abi: tokenMessengerAbi, functionName: "depositForBurn", args })
      : encodeFunctionData({
          abi: tokenMessengerAbi,
          functionName: "depositForBurnWithHook",
          args: [...args, hookData],
        });
  const approve = encodeFunctionData({
    abi: usdcAbi,
    functionName: "approve",
    args: [messenger, amount],
  });
  return [
    { purpose: "approve", to: usdc, data: approve, gas: GAS.approve },
    { purpose: "burn", to: messenger, data: burn, gas: GAS.burn },
  ];
}

/** @throws the error itself when it is no revert, because then nothing is known */
function revertOf(error: unknown): ContractFunctionRevertedError {
  const revert =
    error instanceof BaseError
      ? error.walk((cause) => cause instanceof ContractFunctionRevertedError)
      : null;
  if (revert instanceof ContractFunctionRevertedError) return revert;
  throw error;
}

function judgeRevert(error: unknown): MintTrial {
  const revert = revertOf(error);
  const reason = revert.reason ?? revert.shortMessage;
  if (reason.includes("Nonce already used")) return { kind: "used" };
  if (reason.includes("Message expired and must be re-signed")) return { kind: "expired" };
  return { kind: "refused", reason };
}
