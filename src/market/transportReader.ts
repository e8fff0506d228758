import { BaseError, RpcRequestError, type Transport } from "viem";
import { type ChainReader, NodeAnswerError } from "./reader.ts";

/** Reads a chain through a viem transport, whose retries are the only ones. */
export function transportReader(transport: Transport): ChainReader {
  const { request } = transport({ retryCount: 0 });
  return {
    async request(method, params, signal) {
      try {
        return await request({ method, params }, { signal });
      } catch (error) {
        const answer =
          error instanceof BaseError && error.walk((cause) => cause instanceof RpcRequestError);
        throw answer ? new NodeAnswerError(answer.message, { cause: error }) : error;
      }
    },
  };
}
