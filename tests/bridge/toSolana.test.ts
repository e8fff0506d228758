import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSigner, getBase64Encoder, getTransactionDecoder } from "@solana/kit";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import { associatedTokenAccount } from "../../src/bridge/solana/addresses.ts";
import { ApiError } from "../../src/lib/errors.ts";
import { nodeRpc } from "../../src/sandbox/rpc.ts";
import { solanaMints } from "../../src/sandbox/solana/mints.ts";
import { accounts } from "../support/sandbox.ts";
import { type RunningBridge, startBridge } from "./running.ts";
import { ARC, BASE, SOLANA, startWorld, type World } from "./world.ts";

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
const wallet = accounts.wallets[0]!;

const request = (changes: Partial<BridgeRequest>): BridgeRequest => ({
  fromChainId: ARC,
  toChainId: SOLANA,
  amount: "10.00",
  token: "USDC",
  recipientAddress: wallet.solana.address,
  ...changes,
});

async function usdcOn(owner: string): Promise<bigint> {
  const account = await associatedTokenAccount(owner as never, solanaMints.usdc);
  const rpc = nodeRpc(world.solanaUrl!);
  const found = await rpc.call("getTokenAccountBalance", [account]).catch(() => undefined);
  return BigInt((found as { value: { amount: string } } | undefined)?.value.amount ?? 0);
}

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
  20_000,
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

test("a burn on Solana is signed by both keys, fits a packet, and is refused only for want of the program", async () => {
  const quiet = startBridge(world, { worker: false });
  const body = request({ fromChainId: SOLANA, toChainId: ARC, recipientAddress: wallet.address });
  const { transactionHash } = await quiet.bridge.transfer(caller, body);
  const [row] = await quiet.database.bridge.list({ limit: 1 });
  const [burn] = await quiet.database.bridge.transactions(row!.id);
  expect(burn).toMatchObject({ hash: transactionHash, purpose: "burn", nonce: null });
  expect(row!.state).toBe("signed");

  const wire = getBase64Encoder().encode(burn!.raw);
  expect(wire.length).toBeLessThanOrEqual(1_232);
  const { signatures } = getTransactionDecoder().decode(wire);
  expect(Object.keys(signatures)).toContain(accounts.solana.operator.address);
  expect(Object.values(signatures).every((signature) => signature?.length === 64)).toBe(true);
  const options = { encoding: "base64", sigVerify: true };
  const simulated = await nodeRpc(world.solanaUrl!).call("simulateTransaction", [
    burn!.raw,
    options,
  ]);
  expect(JSON.stringify((simulated as { value: { err: unknown } }).value.err)).toMatch(
    /ProgramAccountNotFound|UnsupportedProgramId|InvalidProgramForExecution/,
  );
  await quiet.stop();
});
