import { startFaultNode } from "./faults/node.ts";

/**
 * One forwarding node as a process of its own: `node.ts <target> <port> <controlPort>`.
 * Control port and port answer `/faults` and `/ledger`.
 */
const [target, port, controlPort] = process.argv.slice(2);
if (!target || !port || !controlPort)
  throw new Error("usage: node.ts <target> <port> <controlPort>");
startFaultNode({ target, port: Number(port), controlPort: Number(controlPort) });
