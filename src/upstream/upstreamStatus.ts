import { expectedCost, totalCost } from "./health.ts";
import type { UpstreamStatus } from "./types.ts";
import type { ChainContext, Upstream } from "./upstream.ts";

/** An upstream's score in its parts and its state, for the status page and metrics. */
export function statusOf(upstream: Upstream, context: ChainContext): UpstreamStatus {
  const { health, inFlight, options, record } = upstream;
  const { batch, chainId, id, maxConcurrent, name } = options;
  const parts = expectedCost(health, "read", { ...context, inFlight, maxConcurrent });
  const state = stateOf(upstream);
  const pace = options.pace.status(context.nowMs);
  const isHeld = state === "active" && pace.heldMs > 0;
  return {
    id,
    chainId,
    name,
    state,
    reason: state === "ejected" ? record.reason : isHeld ? "rate-limited" : undefined,
    costMs: totalCost(parts),
    parts,
    errorRate: health.classes.read.errorRate,
    inFlight,
    maxConcurrent,
    pace,
    lacks: record.lacking.list(context.nowMs),
    batchItems: batch?.maxItems,
    head: health.head,
    requests: record.requests,
    failures: record.failures,
  };
}

function stateOf(upstream: Upstream): UpstreamStatus["state"] {
  if (upstream.isLeaving) return "draining";
  if (upstream.identity === "wrong") return "wrong-chain";
  if (upstream.ejected) return "ejected";
  if (upstream.identity === "right") return "active";
  return upstream.record.requests === 0 ? "idle" : "probing";
}
