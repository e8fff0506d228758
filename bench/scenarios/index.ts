import type { Scenario } from "../scenario.ts";
import { balances } from "./balances.ts";
import { batched } from "./batched.ts";
import { buildTx } from "./buildTx.ts";
import { cached } from "./cached.ts";
import { connections } from "./connections.ts";
import { large } from "./large.ts";
import { latency } from "./latency.ts";
import { everything } from "./everything.ts";
import { growthCallers, growthKeys, growthLedger } from "./growthDatabase.ts";
import { growthPools } from "./growthPools.ts";
import { growthUpstreams } from "./growthUpstreams.ts";
import { keys } from "./keys.ts";
import { memory } from "./memory.ts";
import { metering } from "./metering.ts";
import { mixed } from "./mixed.ts";
import { prices } from "./prices.ts";
import { quoteLatency, quotes } from "./quotes.ts";
import { replicaCalls, replicas } from "./replicas.ts";
import { rpc } from "./rpc.ts";
import { sick } from "./sick.ts";

/** Every scenario, in the order they run. A new one is a file beside these and a line here. */
export const scenarios: readonly Scenario[] = [
  rpc,
  batched,
  cached,
  latency,
  mixed,
  large,
  sick,
  prices,
  metering,
  keys,
  quotes,
  quoteLatency,
  buildTx,
  balances,
  everything,
  replicas,
  replicaCalls,
  connections,
  growthKeys,
  growthCallers,
  growthUpstreams,
  growthPools,
  growthLedger,
  memory,
];
