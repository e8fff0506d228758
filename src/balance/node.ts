import type { Chain } from "../chains/index.ts";
import { member, parseExactJson } from "../lib/exactJson.ts";
import { ApiError } from "../lib/errors.ts";
import { type UpstreamPool, WrongChainError } from "../upstream/index.ts";

/** Time one balance may take altogether; the caller waits for a node it chose itself. */
const DEADLINE_MS = 5_000;

/** The node understood the call and refused it. Its words stay here: it is the caller's node. */
export class NodeRefusal extends Error {
  override readonly name = "NodeRefusal";

  /** @param code - JSON-RPC error code, undefined when the node gave none */
  constructor(readonly code: number | undefined) {
    super(`node refused the call with code ${code ?? "none"}`);
  }
}

/** One node, for the length of one request. */
export interface Node {
  /**
   * Calls a method and gives its result, numbers kept as text.
   * @throws NodeRefusal, or ApiError `RPC_URL_REFUSED`, `RPC_URL_UNREACHABLE` and
   *   `RPC_URL_WRONG_NETWORK`
   */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
}

/** The part of the pool that reaches nodes named by callers, behind its guard. */
export type NodeAccess = Pick<UpstreamPool, "externalCall">;

/** Opens the node at `url` for one request; all its calls share one deadline. */
export function openNode(pool: NodeAccess, chain: Chain, url: string): Node {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const options = { signal, deadlineMs: DEADLINE_MS };
  return {
    async call(method, params) {
      let data: unknown;
      try {
        const call = { method, params: JSON.stringify(params) };
        const reply = await pool.externalCall(chain.id, url, call, options);
        data = parseExactJson(new TextDecoder().decode(reply.bytes));
      } catch (error) {
        // Nothing of the failure is repeated: it may tell of the network the service stands in.
        if (error instanceof WrongChainError) throw wrongNetwork(chain);
        throw error instanceof ApiError ? error : unreachable();
      }
      const error = member(data, "error");
      if (error !== undefined && error !== null) {
        const code = Number(member(error, "code"));
        throw new NodeRefusal(Number.isInteger(code) ? code : undefined);
      }
      return member(data, "result");
    },
  };
}

/** The answer to a node that does not answer, or not as its protocol says. */
export function unreachable(): ApiError {
  return new ApiError("RPC_URL_UNREACHABLE");
}

/** The answer to a node of another network than the named one. */
export function wrongNetwork(chain: Chain): ApiError {
  return new ApiError("RPC_URL_WRONG_NETWORK", `rpcUrl does not serve ${chain.name} (${chain.id})`);
}

/** A field of the request that cannot be used on this network. */
export function invalidField(field: string, rule: string): ApiError {
  return new ApiError("INVALID_FIELD", `Invalid field: ${field} (${rule})`);
}
