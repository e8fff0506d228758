import { join } from "node:path";
import { temporaryDirectory, testProcesses } from "./processes.ts";
import {
  type PostgresServer,
  startPostgres,
  startRedis,
  type StorageServer,
} from "./storageServers.ts";

let postgres: Promise<PostgresServer> | undefined;

/** The Postgres server all tests of this process share; a test uses databases of its own. */
export function testPostgres(): Promise<PostgresServer> {
  return (postgres ??= newPostgres());
}

/** A Postgres server of a test's own, to be killed. */
export function newPostgres(): Promise<PostgresServer> {
  return startPostgres(testProcesses(), join(temporaryDirectory(), "postgres"));
}

/** A Redis server of a test's own. */
export function newRedis(): Promise<StorageServer> {
  return startRedis(testProcesses(), temporaryDirectory());
}
