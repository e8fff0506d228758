import { createAccess, keysCommand } from "./access/index.ts";
import { loadConfig } from "./config/index.ts";
import { loadOperatorTarget } from "./config/operator.ts";
import { openDatabase } from "./db/index.ts";

const HELP = `usage: bun run keys <command> [options]      manage API keys
       bun run upstreams <command> [options] see and change the nodes of a running service
       bun run executor <command> [options]  build and deploy the swap executor
       bun run bridge <command> [options]    look after bridge transfers
       bun run reload                        have every running process read its configuration anew
       bun run migrate --from <url> --to <url>
                                             move everything from SQLite to Postgres

--help after any of them says more.`;

async function openKeys() {
  const config = loadConfig();
  const database = await openDatabase(config.database.url);
  try {
    const { keys, meter } = await createAccess(database, config.access);
    const { audit, activity, close } = database;
    return { keys, meter, audit, activity, close };
  } catch (error) {
    database.close();
    throw error;
  }
}

async function openBridgeStore() {
  const database = await openDatabase(loadConfig().database.url);
  return { store: database.bridge, close: database.close };
}

async function main([area, ...args]: string[]): Promise<void> {
  switch (area) {
    case "keys":
      return keysCommand(args, openKeys, console.log);
    case "upstreams": {
      const { upstreamsCommand } = await import("./console/index.ts");
      return upstreamsCommand(args, loadOperatorTarget, console.log);
    }
    case "executor": {
      const { executorCommand } = await import("./contracts/command.ts");
      return executorCommand(args, console.log);
    }
    case "bridge": {
      const { bridgeCommand } = await import("./bridge/index.ts");
      return bridgeCommand(args, openBridgeStore, console.log);
    }
    case "reload": {
      const database = await openDatabase(loadConfig().database.url);
      await database.peers.announceConfig();
      return database.close();
    }
    case "migrate": {
      const { migrateCommand } = await import("./db/move/command.ts");
      return migrateCommand(args, console.log);
    }
    default:
      console.log(HELP);
      if (area !== undefined && area !== "--help" && area !== "-h") process.exitCode = 2;
  }
}

const words = process.argv.slice(2);
try {
  await main(words);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  // By name, because the other areas are loaded only where they are needed.
  const isUsage = error instanceof Error && error.name.endsWith("UsageError");
  if (words.includes("--json")) console.error(JSON.stringify({ error: message }));
  else console.error(isUsage ? `${message}\n\n${words[0]} --help says more.` : message);
  process.exitCode = isUsage ? 2 : 1;
}
