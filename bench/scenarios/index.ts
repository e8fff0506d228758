import type { Scenario } from "../scenario.ts";
import { balances } from "./balances.ts";
import { buildTx } from "./buildTx.ts";
import { connections } from "./connections.ts";
import { large } from "./large.ts";
import { latency } from "./latency.ts";
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
  replicas,
  replicaCalls,
  connections,
  memory,
];
