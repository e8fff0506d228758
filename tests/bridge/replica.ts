import { openDatabase } from "../../src/db/index.ts";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import { startBridge, type Surroundings } from "./running.ts";

/**
 * A replica's bridge on a shared database. Its orders are the first line of its input; told to go
 * by the second, it starts a transfer and dies the first time it passes the edge.
 */
interface Orders {
  readonly world: Surroundings;
  readonly databaseUrl: string;
  readonly request: BridgeRequest;
  readonly dieAt: string;
}

const lines = console[Symbol.asyncIterator]();
const orders = JSON.parse((await lines.next()).value ?? "") as Orders;
const { bridge } = startBridge(orders.world, {
  database: await openDatabase(orders.databaseUrl),
  onEdge(edge) {
    if (edge === orders.dieAt) process.kill(process.pid, "SIGKILL");
  },
});
await lines.next();
await bridge.transfer({ keyId: "key", environment: "test" }, orders.request).catch(() => undefined);
setInterval(() => {}, 1_000);
