import { type ChainReader, NodeAnswerError } from "../market/index.ts";
import type { UpstreamPool } from "../upstream/types.ts";

interface JsonRpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** The market's way to the nodes: through the upstream pool. */
export function createMarketReader(
  upstream: Pick<UpstreamPool, "call">,
): (chainId: number) => ChainReader {
  return (chainId) => ({
    async request(method, params, signal) {
      const call = { method, params: JSON.stringify(params) };
      const { bytes, isError } = await upstream.call(chainId, call, { signal });
      const { result, error } = JSON.parse(new TextDecoder().decode(bytes)) as JsonRpcAnswer;
      if (isError) throw new NodeAnswerError(`${method}: ${error?.message ?? "refused"}`);
      return result;
    },
  });
}
