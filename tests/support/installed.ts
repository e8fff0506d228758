import { describe, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Where Debian puts the browser. */
export const CHROMIUM = "/usr/bin/chromium";

/** Programs that no package of the project brings; CI must have them all. */
const isComplete = process.env["CI"] === "true";

/** The folder of Postgres' programs, which Debian keeps off the PATH. */
export function postgresPrograms(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  if (newest) return join(root, newest, "bin");
  const initdb = Bun.which("initdb");
  return initdb ? join(initdb, "..") : undefined;
}

/** Postgres and Redis are there. */
export const hasStorageServers =
  isComplete || (postgresPrograms() !== undefined && Bun.which("redis-server") !== null);
/** A browser is there. */
export const hasBrowser = isComplete || existsSync(CHROMIUM);

/** Tests with a browser; left out on a machine that has none. */
export const describeInBrowser = describe.if(hasBrowser);

/** Tests with Postgres or Redis; left out on a machine that lacks one. */
export const describeWithServers = describe.if(hasStorageServers);
export const testWithServers = test.if(hasStorageServers);
