import { afterAll, beforeAll, expect } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "../../src/db/index.ts";
import { accounts } from "../support/sandbox.ts";
import { hasStorageServers, testWithServers } from "../support/installed.ts";
import { testPostgres } from "../support/storage.ts";
import { startBridge } from "./running.ts";
import { ARC, BASE, countFor, freshRecipient, startWorld, type World } from "./world.ts";

/** Guards against two replicas that follow one wallet's transfers, and against none that does. */
let world: World;
beforeAll(async () => {
  if (!hasStorageServers) return;
  world = await startWorld();
}, 60_000);
afterAll(() => world?.stop());

const LEASE = `bridge:${accounts.operator.address.toLowerCase()}`;
/** Another replica is at work within this after one died, ms. */
const TAKEOVER_MS = 10_000;
const COMPLETED_MS = 60_000;

/** A replica that holds the lease and waits to be told to start its transfer. */
async function startOther(databaseUrl: string, request: object, dieAt: string) {
  const { configFile, operatorKeyFile } = world;
  const orders = { world: { configFile, operatorKeyFile }, databaseUrl, request, dieAt };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "replica.ts")], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "inherit",
    timeout: COMPLETED_MS,
  });
  child.stdin.write(`${JSON.stringify(orders)}\n`);
  child.stdin.flush();
  const watcher = await openDatabase(databaseUrl);
  while (await watcher.bridge.acquireLease(LEASE, "watcher", 0, 0)) {
    await watcher.bridge.releaseLease(LEASE, "watcher");
    if (child.exitCode !== null) throw new Error("the other replica ended");
    await Bun.sleep(20);
  }
  watcher.close();
  return {
    async goAndDie() {
      child.stdin.write("go\n");
      child.stdin.flush();
      await child.exited;
      expect(child.signalCode).toBe("SIGKILL");
    },
  };
}

testWithServers.each([
  "created stored",
  "burn signed",
  "burn sent",
  "burned stored",
  "mint signed",
  "mint settled",
])(
  "a replica that dies at '%s' is replaced in time, with one burn and one mint",
  async (dieAt) => {
    const databaseUrl = await (await testPostgres()).createDatabase();
    const recipientAddress = freshRecipient();
    const request = {
      fromChainId: ARC,
      toChainId: BASE,
      amount: "10.00",
      token: "USDC",
      recipientAddress,
      useForwarder: false,
    };
    const other = await startOther(databaseUrl, request, dieAt);
    const database = await openDatabase(databaseUrl);
    const survivor = startBridge(world, { database });
    await other.goAndDie();
    const diedAt = performance.now();
    const watcher = await openDatabase(databaseUrl);
    while (await watcher.bridge.acquireLease(LEASE, "watcher", 0, 0)) {
      await watcher.bridge.releaseLease(LEASE, "watcher");
      await Bun.sleep(20);
    }
    const takenOverMs = performance.now() - diedAt;
    expect(takenOverMs).toBeLessThan(TAKEOVER_MS);
    watcher.close();

    const deadline = diedAt + COMPLETED_MS;
    for (;;) {
      const [transfer] = await database.bridge.list({ limit: 10 });
      if (transfer?.state === "completed") break;
      if (performance.now() > deadline)
        throw new Error(`${transfer?.state}: ${transfer?.attention}`);
      await Bun.sleep(50);
    }
    const { burns } = await countFor(world, ARC, recipientAddress);
    const { mints } = await countFor(world, BASE, recipientAddress);
    expect([burns, mints, await world.usdcOf(BASE, recipientAddress)]).toEqual([1, 1, 10_000_000n]);
    await survivor.stop();
  },
  120_000,
);
