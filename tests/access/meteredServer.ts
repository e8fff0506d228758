import { openDatabase } from "../../src/db/index.ts";
import { startServer } from "./support.ts";

// Serves until it is killed; says where, and with which key.
const server = await startServer({ database: openDatabase(process.argv[2] ?? ":memory:") });
const { key, secret } = await server.newKey({ windowLimit: 1_000_000 });
process.stdout.write(`${JSON.stringify({ origin: server.origin, keyId: key.id, secret })}\n`);
