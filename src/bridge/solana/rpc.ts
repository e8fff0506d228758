import { member, parseExactJson } from "../../lib/exactJson.ts";
import type { UpstreamPool } from "../../upstream/index.ts";

/** A node's refusal. */
export class SolanaRpcError extends Error {
  override readonly name = "SolanaRpcError";
  constructor(
    message: string,
    /** The JSON-RPC error's `data`, numbers as text. */
    readonly data: unknown,
  ) {
    super(message);
  }
}

/** Calls a Solana cluster through the pool; numbers of the answer are text, so none is rounded. */
export type SolanaCall = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** @throws (each call) SolanaRpcError, UpstreamUnavailableError */
export function solanaCalls(upstream: Pick<UpstreamPool, "call">, chainId: number): SolanaCall {
  return async (method, params) => {
    const reply = await upstream.call(chainId, { method, params: JSON.stringify(params) });
    const answer = parseExactJson(new TextDecoder().decode(reply.bytes));
    const error = member(answer, "error");
    if (error !== undefined) {
      throw new SolanaRpcError(String(member(error, "message")), member(error, "data"));
    }
    return member(answer, "result");
  };
}
