import { sandboxAccounts } from "../accounts.ts";
import { prepareCluster } from "./genesis.ts";
import { serveCluster } from "./server.ts";

/** The local Solana node as a process of its own: `node.ts <port>`. */
const port = Number(process.argv[2]);
if (!Number.isInteger(port) || port <= 0) throw new Error("usage: node.ts <port>");
const { cluster, faucet } = await prepareCluster(sandboxAccounts());
serveCluster(cluster, faucet, port);
