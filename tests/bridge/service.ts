import type { BridgeRequest } from "../../src/bridge/model.ts";
import { startBridge, type Surroundings } from "./running.ts";

/**
 * A process of the bridge that starts one transfer and dies where it is told to: at the first time
 * its own transfer passes the edge. Transfers of processes before it are taken up from their rows.
 * Without a transfer it stays until its parent ends it.
 */
interface Orders {
  readonly world: Surroundings;
  readonly databaseUrl: string;
  readonly transfer?: { readonly request: BridgeRequest; readonly dieAt: string };
}

const orders = JSON.parse(await Bun.stdin.text()) as Orders;
const others = new Set<string>();
const { bridge } = startBridge(orders.world, {
  databaseUrl: orders.databaseUrl,
  onEdge(edge, transferId) {
    if (edge === orders.transfer?.dieAt && !others.has(transferId)) {
      process.kill(process.pid, "SIGKILL");
    }
  },
  others,
});
if (orders.transfer) {
  const { request } = orders.transfer;
  const caller = { keyId: "key", environment: "test" } as const;
  await bridge.transfer(caller, request, request.recipientAddress);
}
process.stdout.write("answered\n");
setInterval(() => {}, 1_000);
