import {
  type Address,
  concatHex,
  encodeDeployData,
  getCreate2Address,
  type Hex,
  isHex,
  numberToHex,
  padHex,
  zeroHash,
} from "viem";
import { swapExecutorAbi } from "./abi/swapExecutor.ts";
import artifact from "./artifacts/SwapExecutor.json" with { type: "json" };
import type { ExecutorChain, ExecutorVenue } from "./table.ts";

/**
 * The deterministic deployment proxy (Arachnid/deterministic-deployment-proxy), which has the same
 * address on every chain: calldata is the salt followed by the creation code.
 */
export const CREATE2_DEPLOYER: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** What an executor is made of; its address follows from it. */
export interface ExecutorParameters {
  /** Venues of every chain the executor shall run on; a chain not in it can't be deployed to. */
  readonly table: readonly ExecutorChain[];
  /** Receives platform fees; the zero address refuses orders with a fee. */
  readonly feeRecipient: Address;
  /** 32 bytes; zero by default. */
  readonly salt?: Hex;
}

/** One CREATE2 deployment, the same on every chain of the table. */
export interface ExecutorDeployment {
  readonly address: Address;
  /** The contract to send `calldata` to: {@link CREATE2_DEPLOYER}. */
  readonly factory: Address;
  readonly calldata: Hex;
}

/**
 * Where the executor with these parameters lives, and the transaction that puts it there.
 * @example
 * const { address, factory, calldata } = executorDeployment({ table, feeRecipient });
 * await wallet.sendTransaction({ to: factory, data: calldata });
 */
export function executorDeployment(parameters: ExecutorParameters): ExecutorDeployment {
  const { table, feeRecipient, salt = zeroHash } = parameters;
  const bytecode = encodeDeployData({
    abi: swapExecutorAbi,
    bytecode: creationCode(),
    args: [table, feeRecipient],
  });
  return {
    address: getCreate2Address({ from: CREATE2_DEPLOYER, salt, bytecode }),
    factory: CREATE2_DEPLOYER,
    calldata: concatHex([salt, bytecode]),
  };
}

/**
 * The exact runtime code a correct deployment has on one chain.
 * @throws Error when the table has no entry for the chain
 */
export function expectedExecutorCode(
  { table, feeRecipient }: ExecutorParameters,
  chainId: bigint,
): Hex {
  const chain = table.find((entry) => entry.chainId === chainId);
  if (!chain) throw new Error(`the table has no entry for chain ${chainId}`);
  const values = immutableValues(chain, feeRecipient);

  let code = artifact.deployedBytecode;
  for (const [name, offsets] of Object.entries(artifact.immutables)) {
    const value = values.get(name);
    if (value === undefined) throw new Error(`the artifact has an unknown immutable ${name}`);
    for (const offset of offsets) {
      const start = 2 + offset * 2;
      code = code.slice(0, start) + value.slice(2) + code.slice(start + 64);
    }
  }
  return asHex(code);
}

/** The words the constructor writes into the code, by the name of the immutable. */
function immutableValues(chain: ExecutorChain, feeRecipient: Address): Map<string, Hex> {
  const values = new Map<string, Hex>([
    ["FEE_RECIPIENT", padHex(feeRecipient, { size: 32 })],
    ["WRAPPED_NATIVE", padHex(chain.wrappedNative, { size: 32 })],
    ["VENUE_COUNT", numberToHex(chain.venues.length, { size: 32 })],
  ]);
  const slots = 6; // SwapExecutor.MAX_VENUES
  for (let i = 0; i < slots; i++) {
    const venue = chain.venues[i];
    values.set(`VENUE_${i}`, venue ? venueWord(venue) : zeroHash);
    values.set(`INIT_CODE_HASH_${i}`, venue?.initCodeHash ?? zeroHash);
  }
  return values;
}

/** `factory | kind << 160 | feeBps << 168`, as SwapExecutor packs it. */
function venueWord({ factory, kind, feeBps }: ExecutorVenue): Hex {
  const word = BigInt(factory) | (BigInt(kind) << 160n) | (BigInt(feeBps) << 168n);
  return numberToHex(word, { size: 32 });
}

function creationCode(): Hex {
  return asHex(artifact.bytecode);
}

function asHex(text: string): Hex {
  if (!isHex(text)) throw new Error("the committed artifact is damaged");
  return text;
}
