import type { ChainPool } from "../chainPool.ts";
import { dispatchRead, type NodeReply } from "../dispatch.ts";
import { readRules, type View } from "../reads/belief.ts";
import type { ReadCall } from "../reads/blockRefs.ts";
import { permanentError } from "../reads/localReply.ts";
import type { CallOptions } from "../types.ts";
import type { LogCaps } from "./caps.ts";
import { logsQuery } from "./query.ts";
import { LogsRun, NodeErrorReply, TooMuchError } from "./run.ts";

/** Time for finding the chain's head at the first call, ms. */
const READY_MS = 5_000;

/**
 * Answers an `eth_getLogs` over a range: in one call where an upstream takes it, else in pieces.
 * A range whose ends cannot be told as numbers here, or that is upside down, is the nodes' to
 * answer. One that no node can answer gets a JSON-RPC error that clients do not repeat.
 * @throws UpstreamUnavailableError, or the signal's reason when the caller aborted
 */
export async function readLogs(
  pool: ChainPool,
  caps: LogCaps,
  read: ReadCall,
  view: View,
  options: CallOptions,
): Promise<NodeReply> {
  options.signal?.throwIfAborted();
  await Promise.all([caps.load(), pool.ready(READY_MS, options.signal)]);
  const query = logsQuery(read, pool.head);
  if (!query) return dispatchRead(pool, read.call, options, readRules(pool, read, view));
  try {
    return await new LogsRun({ pool, caps, query, view, options }).start();
  } catch (error) {
    if (error instanceof NodeErrorReply) return error.reply;
    if (error instanceof TooMuchError) return permanentError(error.message);
    throw error;
  }
}
