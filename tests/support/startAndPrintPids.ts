import { createProcessGroup } from "../../src/sandbox/processes.ts";
import { startNode } from "../../src/sandbox/nodes.ts";
import { startAnvil } from "../../src/sandbox/anvil.ts";

/** Starts a chain and a node, prints their process ids as a JSON line, and stays. */
const group = createProcessGroup();
const anvil = await startAnvil(group, { chainId: 5042 });
const node = await startNode(group, "node", anvil.url);
process.stdout.write(`${JSON.stringify([anvil.pid, node.pid])}\n`);
setInterval(() => {}, 1_000);
