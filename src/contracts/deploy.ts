import { type Account, createPublicClient, createWalletClient, type Hex, http } from "viem";
import { type ExecutorParameters, executorDeployment, expectedExecutorCode } from "./deployment.ts";

const REQUEST_TIMEOUT_MS = 15_000;
const RECEIPT_TIMEOUT_MS = 180_000;

/** How a deployment ended. */
export interface DeployOutcome {
  readonly address: Hex;
  /** Undefined when the code was there already. */
  readonly transactionHash: Hex | undefined;
}

/** Where and as whom to deploy. */
export interface DeployTarget {
  readonly chainId: number;
  readonly rpcUrl: string;
  /** Pays the gas; has no power over the contract. */
  readonly account: Account;
}

/**
 * Puts the executor on one chain, unless it is there, and checks its code byte for byte.
 * @throws Error when the node serves another chain, the CREATE2 deployer is missing, the
 * transaction fails, or the code differs from the expected
 */
export async function deployExecutor(
  parameters: ExecutorParameters,
  target: DeployTarget,
): Promise<DeployOutcome> {
  const transport = http(target.rpcUrl, { timeout: REQUEST_TIMEOUT_MS });
  const client = createPublicClient({ transport });
  const chainId = await client.getChainId();
  if (chainId !== target.chainId) {
    throw new Error(`the node serves chain ${chainId}, not ${target.chainId}`);
  }

  const { address, factory, calldata } = executorDeployment(parameters);
  const expected = expectedExecutorCode(parameters, BigInt(chainId));
  const present = await client.getCode({ address });
  let transactionHash: Hex | undefined;
  if (present === undefined) {
    if ((await client.getCode({ address: factory })) === undefined) {
      throw new Error(`chain ${chainId} has no CREATE2 deployer at ${factory}; deploy it first`);
    }
    const wallet = createWalletClient({ account: target.account, transport });
    transactionHash = await wallet.sendTransaction({ chain: null, to: factory, data: calldata });
    const receipt = await client.waitForTransactionReceipt({
      hash: transactionHash,
      timeout: RECEIPT_TIMEOUT_MS,
    });
    if (receipt.status !== "success") throw new Error(`${transactionHash} failed`);
  }

  const deployed = present ?? (await client.getCode({ address }));
  if (deployed !== expected) {
    throw new Error(`the code at ${address} is not the executor's: do not use it`);
  }
  return { address, transactionHash };
}
