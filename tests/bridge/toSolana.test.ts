import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSigner, getBase64Encoder } from "@solana/kit";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import { associatedTokenAccount } from "../../src/bridge/solana/addresses.ts";
import { ApiError } from "../../src/lib/errors.ts";
import type { Mood } from "../../src/sandbox/cctp/moods.ts";
import { solanaMints } from "../../src/sandbox/solana/mints.ts";
import { accounts } from "../support/sandbox.ts";
import { type RunningBridge, startBridge } from "./running.ts";
import { ARC, BASE, SOLANA, startWorld, usdcOnSolana, type World } from "./world.ts";

let world: World;
let running: RunningBridge;
beforeAll(async () => {
  world = await startWorld({ solana: true });
  running = startBridge(world);
}, 60_000);
afterEach(() => world.attestation.setMood({}));
afterAll(async () => {
  await running.stop();
  await world.stop();
});

const caller = { keyId: "key", environment: "test" } as const;
const wallet = accounts.wallets[0]!;

const request = (changes: Partial<BridgeRequest>): BridgeRequest => ({
  fromChainId: ARC,
  toChainId: SOLANA,
  amount: "10.00",
  token: "USDC",
  recipientAddress: wallet.solana.address,
  ...changes,
});

const usdcOn = (owner: string) => usdcOnSolana(world, owner);

test.each([ARC, BASE])(
  "from %d to a wallet with and without a token account",
  async (fromChainId) => {
    const fresh = (await generateKeyPairSigner()).address as string;
    for (const recipientAddress of [fresh, wallet.solana.address as string]) {
      const before = await usdcOn(recipientAddress);
      const started = await running.bridge.transfer(
        caller,
        request({ fromChainId, recipientAddress }),
      );
      const status = await running.finished(started.transactionHash);
      expect(status).toMatchObject({ status: "completed", useForwarder: true });
      expect((await usdcOn(recipientAddress)) - before).toBe(10_000_000n);
      // Minted to the account of the wallet, of which the fee for making it is part.
      const setup = recipientAddress === fresh ? 180_000 : 0;
      expect(Math.round(Number(status.fee) * 1e6)).toBeGreaterThanOrEqual(209_052 + setup);
    }
  },
  60_000,
);

test("a token account, a program's account or another network's address is no recipient", async () => {
  const tokenAccount = await associatedTokenAccount(wallet.solana.address, solanaMints.usdc);
  for (const recipientAddress of [tokenAccount, solanaMints.usdc, wallet.address, ""]) {
    const refused = running.bridge.transfer(caller, request({ recipientAddress }));
    await expect(refused).rejects.toMatchObject({ code: "INVALID_RECIPIENT" });
  }
  const toEvm = request({ toChainId: BASE, recipientAddress: wallet.solana.address });
  await expect(running.bridge.transfer(caller, toEvm)).rejects.toBeInstanceOf(ApiError);
});

/** Moods in which the forwarder does not deliver, so that we mint ourselves or find who did. */
const moods: readonly (readonly [string, Mood])[] = [
  ["a forwarder that fails", { forward: "fails" }],
  ["a forwarder that never comes", { forward: "never" }],
  ["a forwarder that is front-run", { forward: "front-run" }],
  ["an attestation that expired", { forward: "fails", expired: true }],
  ["an attestation that expired before the forwarder came", { expired: true }],
  ["all that is slow and broken", { unseenPolls: 2, failingPolls: 2, malformedPolls: 2 }],
];
test.each(moods)(
  "%s: a wallet without a token account gets exactly the amount",
  async (_, mood) => {
    world.attestation.setMood(mood);
    const owner = (await generateKeyPairSigner()).address as string;
    const { transactionHash } = await running.bridge.transfer(
      caller,
      request({ fromChainId: BASE, recipientAddress: owner }),
    );
    expect((await running.finished(transactionHash)).status).toBe("completed");
    expect(await usdcOn(owner)).toBe(10_000_000n);
  },
  20_000,
);

test("without forwarder we mint, in one packet, and the recipient gets exactly the amount", async () => {
  const owner = (await generateKeyPairSigner()).address as string;
  const { transactionHash } = await running.bridge.transfer(
    caller,
    request({ recipientAddress: owner, useForwarder: false }),
  );
  expect(await running.finished(transactionHash)).toMatchObject({ fee: "0.000000" });
  expect(await usdcOn(owner)).toBe(10_000_000n);
  const row = await running.database.bridge.findByHash(transactionHash);
  const mint = (await running.database.bridge.transactions(row!.id)).at(-1)!;
  expect([mint.purpose, mint.chainId]).toEqual(["mint", SOLANA]);
  expect(getBase64Encoder().encode(mint.raw).length).toBeLessThanOrEqual(1_232);
}, 20_000);
