import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database, StoredTransfer } from "../../src/db/index.ts";
import { startBridge } from "./running.ts";
import { ARC, BASE, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 60_000);
afterAll(() => world.stop());

const OPEN = 1_000;
const WINDOW_MS = 1_000;

/** Transfers whose burns the attestation service has never heard of. */
async function addOpenTransfers(database: Database): Promise<void> {
  const word = `0x${"00".repeat(31)}01`;
  for (let index = 0; index < OPEN; index++) {
    const hash = `0x${index.toString(16).padStart(64, "0")}`;
    const transfer: StoredTransfer = {
      id: `open-${index}`,
      keyId: "key",
      state: "burned",
      fromChainId: ARC,
      toChainId: BASE,
      amount: 1n,
      maxFee: 0n,
      recipient: "0x",
      mintRecipient: word,
      sender: null,
      useForwarder: false,
      minFinalityThreshold: 2_000,
      hookData: "0x",
      authorization: null,
      estimatedTime: "",
      destinationBlock: 0,
      transactionHash: hash,
      burnHash: hash,
      messageIndex: 0,
      message: null,
      attestation: null,
      feeExecuted: null,
      delayReason: null,
      mintHash: null,
      attention: null,
      checks: 0,
      nextCheckAt: index,
      createdAt: index,
      stateAt: index,
      updatedAt: index,
    };
    const limits = { perKeyAndDay: 10_000n, perDay: 10_000n, daySince: 0 };
    await database.bridge.create({ transfer, idempotency: undefined, limits });
  }
}

test("1,000 open transfers poll at most 10 times per second, and nobody does after a 429", async () => {
  const restMs = 1_500;
  const attestation = { urls: world.attestation.urls, restMs, pace: { minMs: 20, maxMs: 60 } };
  const running = startBridge(world, {
    worker: false,
    bridge: { ...world.configFile.bridge, attestation },
  });
  await addOpenTransfers(running.database);
  running.bridge.start();
  const polls = world.attestation.polls();
  while (polls.length < 25) await Bun.sleep(20);
  for (const [index, at] of polls.entries()) {
    const inWindow = polls.slice(index).filter((time) => time < at + WINDOW_MS - 20);
    expect(inWindow.length).toBeLessThanOrEqual(10);
  }
  // Every poll is for the transfer that waited longest.
  const checked = await running.database.bridge.due(["burned"], Number.MAX_SAFE_INTEGER, OPEN);
  expect(checked.filter(({ checks }) => checks > 1)).toHaveLength(0);

  const before = polls.length;
  world.attestation.block(200);
  while (polls.length === before) await Bun.sleep(5);
  const blockedAt = polls.at(-1)!;
  while (polls.length < before + 2) await Bun.sleep(5);
  const next = polls.find((time) => time > blockedAt)!;
  expect(next - blockedAt).toBeGreaterThanOrEqual(restMs - 20);
  await running.stop();
}, 60_000);
