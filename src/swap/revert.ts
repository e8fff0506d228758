import { type Abi, BaseError, decodeErrorResult, type Hex, isHex, slice } from "viem";
import { swapExecutorAbi } from "../contracts/index.ts";
import { ApiError } from "../lib/errors.ts";
import { tokenErrorsAbi } from "./abi.ts";
import { isUnreachable } from "./clients.ts";
import { shortfallBps } from "./slippage.ts";

const knownErrors: Abi = [...swapExecutorAbi, ...tokenErrorsAbi];

const TAXED = "as happens with tokens that tax their transfers";
/** Texts of v3 pools that say nothing by themselves. */
const poolReasons: ReadonlyMap<string, string> = new Map([
  ["IIA", `IIA, a pool received less than was sent to it, ${TAXED}`],
]);

/**
 * The error to answer with when a simulated call failed: the decoded reason of a revert, or that
 * no node could be reached.
 * @param what - the call that failed, such as `swap`
 */
export function simulationError(what: string, error: unknown): ApiError {
  if (isUnreachable(error)) return new ApiError("UPSTREAM_UNREACHABLE");
  return new ApiError("SIMULATION_FAILED", `The ${what} would fail: ${revertReason(error)}`);
}

/**
 * Why a call reverted, in words: a custom error of the executor or of ERC-20 tokens with its
 * arguments, the text of `Error(string)`, the code of a panic, or what the node said.
 */
export function revertReason(error: unknown): string {
  const data = revertData(error);
  if (data && data.length >= 10) return decode(data);
  if (error instanceof BaseError) return error.details || error.shortMessage;
  return error instanceof Error ? error.message : "reverted without a reason";
}

/** Revert data stands in the `data` of some error along the chain of causes; geth and anvil differ. */
function revertData(error: unknown): Hex | undefined {
  let current: unknown = error;
  for (let depth = 0; depth < 8 && typeof current === "object" && current !== null; depth += 1) {
    const { data, cause } = current as { data?: unknown; cause?: unknown };
    if (isHex(data)) return data;
    const nested = (data as { data?: unknown } | null | undefined)?.data;
    if (isHex(nested)) return nested;
    current = cause;
  }
  return undefined;
}

function decode(data: Hex): string {
  try {
    const { errorName, args = [], abiItem } = decodeErrorResult({ abi: knownErrors, data });
    const values: readonly unknown[] = args;
    if (errorName === "Error") return poolReasons.get(String(values[0])) ?? String(values[0]);
    if (errorName === "Panic") return `panic 0x${BigInt(String(values[0])).toString(16)}`;
    const inputs = "inputs" in abiItem ? abiItem.inputs : [];
    const named = values.map((value, index) => {
      const name = inputs[index]?.name;
      return name ? `${name}: ${value}` : String(value);
    });
    return `${errorName}(${named.join(", ")})${remarkOn(errorName, values)}`;
  } catch {
    return `unknown error ${slice(data, 0, 4)}`;
  }
}

/** The route was priced a moment before it was simulated: what is missing, no market took. */
function remarkOn(errorName: string, [minimum, actual]: readonly unknown[]): string {
  const isShort = errorName === "InsufficientOutput";
  if (!isShort || typeof minimum !== "bigint" || typeof actual !== "bigint") return "";
  return `: ${shortfallBps(minimum, actual)} bps short of the minimum, ${TAXED}`;
}
