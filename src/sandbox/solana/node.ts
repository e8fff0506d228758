import { sandboxAccounts } from "../accounts.ts";
import { tokenMessengerStandIn } from "../cctp/solana/burn.ts";
import { cctpPrograms } from "../cctp/solana/programs.ts";
import { messageTransmitterStandIn } from "../cctp/solana/receive.ts";
import { prepareCluster } from "./genesis.ts";
import { serveCluster } from "./server.ts";

/** The local Solana node as a process of its own: `node.ts <port>`. */
const port = Number(process.argv[2]);
if (!Number.isInteger(port) || port <= 0) throw new Error("usage: node.ts <port>");
const { cluster, faucet } = await prepareCluster(sandboxAccounts());
cluster.standIns.set(cctpPrograms.messenger, tokenMessengerStandIn);
cluster.standIns.set(cctpPrograms.transmitter, messageTransmitterStandIn);
serveCluster(cluster, faucet, port);
