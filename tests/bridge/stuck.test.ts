import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { StoredTransaction } from "../../src/db/index.ts";
import { accounts, temporaryDirectory } from "../support/sandbox.ts";
import { allCompleted, runUntilDeath } from "./death.ts";
import { type RunningBridge, startBridge } from "./running.ts";
import { ARC, BASE, countFor, freshRecipient, startWorld, type World } from "./world.ts";

/** A chain that takes no blocks by itself, so that transactions get stuck. */
let world: World;
let running: RunningBridge;
const rpc = () => world.chains[ARC]!.rpc;
beforeAll(async () => {
  world = await startWorld();
  running = startBridge(world, { bridge: { ...world.configFile.bridge, replaceAfterMs: 200 } });
}, 60_000);
afterEach(async () => {
  await rpc().call("evm_setAutomine", [true]);
  await rpc().call("evm_setIntervalMining", [1]);
});
afterAll(async () => {
  await running.stop();
  await world.stop();
});

async function stopMining() {
  await rpc().call("evm_setIntervalMining", [0]);
  await rpc().call("evm_setAutomine", [false]);
}

const caller = { keyId: "key", environment: "test" } as const;
const start = (recipientAddress: string) =>
  running.bridge.transfer(caller, {
    fromChainId: ARC,
    toChainId: BASE,
    amount: "10.00",
    token: "USDC",
    recipientAddress,
    useForwarder: false,
  });

test("a transaction that pays too little is replaced under its nonce, and every hash still finds the transfer", async () => {
  const recipient = freshRecipient();
  await stopMining();
  const { transactionHash } = await start(recipient);
  const [row] = await running.database.bridge.list({ limit: 1 });
  const signed = await running.database.bridge.transactions(row!.id);
  const burn = signed.find(({ purpose }) => purpose === "burn")!;
  // Ten times what the burn offers: blocks come without it.
  const baseFee = `0x${(burn.maxFeePerGas! * 2n).toString(16)}`;
  for (let block = 0; block < 3; block++) {
    await rpc().call("anvil_setNextBlockBaseFeePerGas", [baseFee]);
    await rpc().call("evm_mine");
  }
  const newest = async () =>
    (await running.database.bridge.transactions(row!.id)).findLast((tx) => tx.purpose === "burn")!;
  while ((await newest()).hash === burn.hash) await Bun.sleep(10);
  await rpc().call("evm_setAutomine", [true]);
  await rpc().call("evm_setIntervalMining", [1]);
  const status = await running.finished(transactionHash);
  expect(status.status).toBe("completed");
  expect(status.transactionHash).not.toBe(transactionHash);
  expect((await newest()).nonce).toBe(burn.nonce);
  expect((await newest()).maxFeePerGas! * 8n).toBeGreaterThan(burn.maxFeePerGas! * 9n);
  expect(await running.bridge.status(status.transactionHash)).toEqual(status);
  expect((await countFor(world, ARC, recipient)).burns).toBe(1);
  expect(await world.usdcOf(BASE, recipient)).toBe(10_000_000n);
}, 60_000);

/** Somebody else sends with the same key and nonces, at a price that wins. */
async function useNonces(signed: readonly StoredTransaction[]): Promise<void> {
  for (const { nonce } of signed) {
    const gasPrice = `0x${(signed[0]!.maxFeePerGas! * 20n).toString(16)}`;
    const from = accounts.operator.address;
    const to = accounts.wallets[0]!.address;
    const foreign = { from, to, value: "0x1", nonce: `0x${nonce!.toString(16)}`, gasPrice };
    await rpc().call("eth_sendTransaction", [foreign]);
  }
}

test("nonces used by others while a process was down, before it had sent: the burn is signed anew", async () => {
  const databaseUrl = `file:${temporaryDirectory()}/down.db`;
  const recipientAddress = freshRecipient();
  const request = {
    fromChainId: ARC,
    toChainId: BASE,
    amount: "10.00",
    token: "USDC",
    recipientAddress,
    useForwarder: false,
  } as const;
  await runUntilDeath(world, databaseUrl, { request, dieAt: "burnSigned stored" });
  const survivor = startBridge(world, { databaseUrl, worker: false });
  const [row] = await survivor.database.bridge.list({ limit: 1 });
  expect(row!.state).toBe("signed");
  await useNonces(await survivor.database.bridge.transactions(row!.id));
  survivor.bridge.start();
  await allCompleted(survivor);
  expect((await countFor(world, ARC, recipientAddress)).burns).toBe(1);
  expect(await world.usdcOf(BASE, recipientAddress)).toBe(10_000_000n);
  await survivor.stop();
}, 90_000);

test("a nonce that another transaction of the wallet used is noticed, and the burn signed anew, once", async () => {
  const recipient = freshRecipient();
  await stopMining();
  const { transactionHash } = await start(recipient);
  const [row] = await running.database.bridge.list({ limit: 1 });
  await useNonces(await running.database.bridge.transactions(row!.id));
  await rpc().call("evm_mine");
  await rpc().call("evm_setAutomine", [true]);
  await rpc().call("evm_setIntervalMining", [1]);
  expect((await running.finished(transactionHash)).status).toBe("completed");
  const events = await running.database.bridge.events(row!.id);
  expect(events.map(({ event }) => event)).toContain("signedAgain");
  expect((await countFor(world, ARC, recipient)).burns).toBe(1);
  expect(await world.usdcOf(BASE, recipient)).toBe(10_000_000n);
}, 60_000);

test("the history of a transfer cannot be changed", async () => {
  const [row] = await running.database.bridge.list({ limit: 1 });
  const events = await running.database.bridge.events(row!.id);
  expect(events.map(({ toState }) => toState).at(-1)).toBe("completed");
  expect(events[0]).toMatchObject({ event: "created", fromState: null, toState: "created" });
});
