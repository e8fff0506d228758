import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import {
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import { burnInstruction } from "../../src/bridge/solana/instructions.ts";
import { solanaDevnet } from "../../src/chains/networks/solana.ts";
import { messageFields, type Mood } from "../../src/sandbox/cctp/moods.ts";
import { nodeRpc } from "../../src/sandbox/rpc.ts";
import { solanaMints } from "../../src/sandbox/solana/mints.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { decodeMessageSent } from "../../src/sandbox/cctp/solana/programs.ts";
import { accounts, temporaryDirectory } from "../support/sandbox.ts";
import { type RunningBridge, startBridge } from "./running.ts";
import {
  ARC,
  BASE,
  countFor,
  freshRecipient,
  SOLANA,
  startWorld,
  usdcOnSolana,
  type World,
} from "./world.ts";

/**
 * CCTP's programs are played by stand-ins that check every account and byte of an instruction;
 * the tokens are burned by the real token program.
 */
let world: World;
let running: RunningBridge;
beforeAll(async () => {
  world = await startWorld({ solana: true });
  running = startBridge(world);
}, 30_000);
afterEach(() => world.attestation.setMood({}));
afterAll(async () => {
  await running.stop();
  await world.stop();
});

const caller = { keyId: "key", environment: "test" } as const;
const operator = accounts.solana.operator.address;
const TEN = 10_000_000n;
const SIX_DAYS_SECONDS = 518_400n;

/** Anchor's ConstraintSeeds. */
const seeds = { Custom: 2_006 };

interface BlockhashLifetime {
  readonly blockhash: Blockhash;
  readonly lastValidBlockHeight: number;
}

interface EventAccount {
  readonly data: readonly [string, string];
  readonly owner: string;
}

const request = (changes: Partial<BridgeRequest> = {}): BridgeRequest => ({
  fromChainId: SOLANA,
  toChainId: ARC,
  amount: "10.00",
  token: "USDC",
  recipientAddress: freshRecipient(),
  ...changes,
});

const operatorUsdc = () => usdcOnSolana(world, operator);

const moods: readonly (readonly [string, Mood, boolean])[] = [
  ["a forwarder that mints", {}, true],
  ["a forwarder that fails", { forward: "fails" }, true],
  ["a forwarder that is front-run", { forward: "front-run" }, true],
  ["an attestation that expired", { forward: "fails", expired: true }, true],
  ["all that is slow and broken", { unseenPolls: 3, failingPolls: 2, malformedPolls: 2 }, true],
  ["our own mint", {}, false],
];
test.each(moods)(
  "%s: burned on Solana, the recipient gets exactly the amount",
  async (_, mood, useForwarder) => {
    world.attestation.setMood(mood);
    const before = await operatorUsdc();
    const bodies = [ARC, BASE].map((toChainId) => request({ toChainId, useForwarder }));
    let fees = 0n;
    for (const body of bodies) {
      const { transactionHash } = await running.bridge.transfer(caller, body);
      const status = await running.finished(transactionHash);
      expect(status).toMatchObject({ status: "completed", useForwarder });
      expect(await world.usdcOf(body.toChainId, body.recipientAddress)).toBe(TEN);
      expect((await countFor(world, body.toChainId, body.recipientAddress)).mints).toBe(1);
      fees += BigInt(Math.round(Number(status.fee) * 1e6));
    }
    // Burned once each: the amount, and on top of it what the forwarder took.
    expect(before - (await operatorUsdc())).toBe(2n * TEN + fees);
  },
  30_000,
);

test("the burn is signed by both keys and fits a packet", async () => {
  const { transactionHash } = await running.bridge.transfer(caller, request());
  const row = await running.database.bridge.findByHash(transactionHash);
  const [burn] = await running.database.bridge.transactions(row!.id);
  expect(burn).toMatchObject({ hash: transactionHash, purpose: "burn", nonce: null });
  const wire = getBase64Encoder().encode(burn!.raw);
  expect(wire.length).toBeLessThanOrEqual(1_232);
  const { signatures } = getTransactionDecoder().decode(wire);
  expect(Object.keys(signatures)).toHaveLength(2);
  expect(Object.keys(signatures)).toContain(operator);
  await running.finished(transactionHash);
}, 20_000);

test("a burn with any account or byte wrong is refused by the program's stand-in", async () => {
  const rpc = nodeRpc(world.solanaUrl!);
  const owner = await createKeyPairSignerFromBytes(
    Uint8Array.from(getBase58Encoder().encode(accounts.solana.operator.secretKey)),
  );
  const event = await generateKeyPairSigner();
  const { messageTransmitter, tokenMessenger } = solanaDevnet.cctp!;
  const cctp = {
    messageTransmitter: address(messageTransmitter),
    tokenMessenger: address(tokenMessenger),
    usdc: solanaMints.usdc,
  };
  const terms = {
    amount: TEN,
    destinationDomain: 26,
    mintRecipient: `0x${"11".repeat(32)}`,
    maxFee: 1n,
    minFinalityThreshold: 2_000,
    hookData: "0x",
  } as const;
  const good = await burnInstruction(cctp, owner, event, terms);
  const { value } = (await rpc.call("getLatestBlockhash")) as { value: BlockhashLifetime };
  const lifetime = { ...value, lastValidBlockHeight: BigInt(value.lastValidBlockHeight) };
  const verdict = async (instruction: Instruction) => {
    const transaction = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (draft) => setTransactionMessageFeePayerSigner(owner, draft),
        (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
        (draft) => appendTransactionMessageInstructions([instruction], draft),
      ),
    );
    const wire = getBase64EncodedWireTransaction(transaction);
    const options = { encoding: "base64", sigVerify: true };
    const found = await rpc.call("simulateTransaction", [wire, options]);
    return (found as { value: { err: unknown } }).value.err;
  };
  expect(await verdict(good)).toBeNull();
  const accountList = good.accounts!;
  const signing = new Set([0, 1, 11]);
  for (const index of accountList.keys()) {
    if (signing.has(index)) continue;
    const wrong = { ...accountList[index]!, address: (await generateKeyPairSigner()).address };
    const changed = { ...good, accounts: accountList.with(index, wrong) };
    expect([index, await verdict(changed)]).toEqual([index, { InstructionError: [0, seeds] }]);
  }
  const bad = [{ amount: 0n }, { maxFee: TEN }, { mintRecipient: `0x${"00".repeat(32)}` }] as const;
  for (const change of bad) {
    expect(
      await verdict(await burnInstruction(cctp, owner, event, { ...terms, ...change })),
    ).toEqual({ InstructionError: [0, { Custom: expect.any(Number) }] });
  }
  const cut = { ...good, data: good.data!.slice(0, -1) };
  expect(await verdict(cut)).toEqual({ InstructionError: [0, { Custom: 102 }] });
}, 20_000);

test("the rent of a burn's message comes back after five days, once", async () => {
  const databaseUrl = `file:${temporaryDirectory()}/rent.db`;
  const rpc = nodeRpc(world.solanaUrl!);
  const today = startBridge(world, { databaseUrl });
  const { transactionHash } = await today.bridge.transfer(caller, request());
  await today.finished(transactionHash);
  const row = await today.database.bridge.findByHash(transactionHash);
  const [burn] = await today.database.bridge.transactions(row!.id);
  await today.stop();
  const decoded = getTransactionDecoder().decode(getBase64Encoder().encode(burn!.raw));
  const event = Object.keys(decoded.signatures).find((signer) => signer !== operator)!;
  const account = async () => {
    const found = await rpc.call("getAccountInfo", [event, { encoding: "base64" }]);
    return (found as { value: EventAccount | null }).value;
  };
  const { data, owner } = (await account())!;
  const bytes = Uint8Array.fromBase64(data[0]);
  const { createdAt } = decodeMessageSent(bytes)!;
  new DataView(bytes.buffer).setBigInt64(40, createdAt - SIX_DAYS_SECONDS, true);
  await rpc.call("sandbox_setAccount", [event, owner, bytes.toBase64()]);

  const lamports = async () => {
    const found = await rpc.call("getBalance", [operator, { commitment: "processed" }]);
    return (found as { value: number }).value;
  };
  const before = await lamports();
  const aheadMs = Number(SIX_DAYS_SECONDS) * 1_000;
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };
  const later = startBridge(world, { databaseUrl, clock });
  while ((await account()) !== null) await Bun.sleep(20);
  // 408 bytes of message: what the account cost, less the fee of the transaction.
  expect((await lamports()) - before).toBe(4_092_480 - 5_000);
  for (;;) {
    const { nextCheckAt, state } = (await later.database.bridge.find(row!.id))!;
    expect(state).toBe("completed");
    if (nextCheckAt > clock.now() + 365 * 86_400_000) break;
    await Bun.sleep(20);
  }
  const sent = await later.database.bridge.transactions(row!.id);
  expect(sent.filter(({ purpose }) => purpose === "reclaim")).toHaveLength(1);
  await later.stop();
}, 30_000);

test("a forged message is never minted", async () => {
  for (const forgedField of ["amount", "mintRecipient", "messageSender"] as const) {
    expect(messageFields).toContain(forgedField);
    world.attestation.setMood({ forgedField, forgedPolls: 4, forward: "fails" });
    const body = request();
    const { transactionHash } = await running.bridge.transfer(caller, body);
    while ((await running.bridge.status(transactionHash)).delayReason !== "needs_attention") {
      expect((await running.bridge.status(transactionHash)).status).toBe("pending");
      await Bun.sleep(2);
    }
    expect((await countFor(world, ARC, body.recipientAddress)).mints).toBe(0);
    await running.finished(transactionHash);
    expect(await world.usdcOf(ARC, body.recipientAddress)).toBe(TEN);
  }
}, 30_000);
