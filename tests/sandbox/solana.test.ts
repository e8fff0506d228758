import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { address, createSolanaRpc } from "@solana/kit";
import { sandboxAccounts } from "../../src/sandbox/accounts.ts";
import { deriveSolanaWallet } from "../../src/sandbox/solana/keys.ts";
import { solanaMints } from "../../src/sandbox/solana/mints.ts";
import { Slots } from "../../src/sandbox/solana/slots.ts";
import { tokenPrograms } from "../../src/sandbox/solana/tokenLayout.ts";
import { callNode, type LocalSolana, signedTransfer, startSolana } from "../support/solana.ts";

let solana: LocalSolana;
const { wallets, solana: shared } = sandboxAccounts();
const [alice, bob] = [wallets[0]!.solana, wallets[1]!.solana];
const call = (method: string, params?: unknown[]) => callNode(solana.url, method, params);

beforeAll(async () => {
  solana = await startSolana();
});
afterAll(() => solana.stop());

async function transfer(lamports: bigint, from = alice, to = bob.address) {
  const { result } = await call("getLatestBlockhash", [{ commitment: "processed" }]);
  return signedTransfer({ from, to, lamports, blockhash: result.value.blockhash });
}
const send = (text: string, options: object = {}) =>
  call("sendTransaction", [text, { encoding: "base64", ...options }]);

test("wallets are the ones every wallet derives from the phrase", () => {
  const phrase = `${"abandon ".repeat(11)}about`;
  const known = "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk";
  expect(deriveSolanaWallet(phrase, 0).address).toBe(address(known));
});

describe("reading", () => {
  test("an independent client reads balances and token accounts", async () => {
    const rpc = createSolanaRpc(solana.url);
    const { value } = await rpc.getBalance(bob.address).send();
    expect(value > 900_000_000_000n).toBe(true);
    const options = { encoding: "jsonParsed" } as const;
    for (const filter of [{ mint: solanaMints.usdc }, { programId: tokenPrograms["spl-token"] }]) {
      const found = await rpc.getTokenAccountsByOwner(bob.address, filter, options).send();
      expect(found.value).toHaveLength(1);
      const { info } = found.value[0]!.account.data.parsed;
      expect(info.tokenAmount.amount as string).toBe("10000000000000");
      expect(info.owner).toBe(bob.address);
    }
  });

  test("numbers of 64 bits keep every digit", async () => {
    const text = await (
      await fetch(solana.url, {
        method: "POST",
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "getAccountInfo",
          params: [bob.address, { encoding: "base64" }],
        }),
      })
    ).text();
    expect(text).toContain('"rentEpoch":18446744073709551615');
  });

  test("several accounts at once, null for those that are not", async () => {
    const nobody = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
    const list = [alice.address, nobody, solanaMints.token2022];
    const { result } = await call("getMultipleAccounts", [list, { encoding: "jsonParsed" }]);
    expect(result.value[0].owner).toBe("11111111111111111111111111111111");
    expect(result.value[1]).toBeNull();
    expect(result.value[2].data.parsed.info).toMatchObject({
      decimals: 6,
      mintAuthority: shared.faucet.address,
    });
  });

  test("refusals carry the codes and words of a node", async () => {
    const cases: [string, unknown[], number, string][] = [
      ["getBalance", ["abc"], -32_602, "Invalid param: WrongSize"],
      ["getBalance", ["0OIl"], -32_602, "Invalid param: Invalid"],
      ["getNothing", [], -32_601, "Method not found"],
      ["getSlot", [{ minContextSlot: 9e9 }], -32_016, "Minimum context slot has not been reached"],
      [
        "getTokenAccountsByOwner",
        [alice.address, { mint: bob.address }],
        -32_602,
        "Invalid param: not a Token mint",
      ],
    ];
    for (const [method, params, code, message] of cases) {
      expect((await call(method, params)).error).toMatchObject({ code, message });
    }
  });

  test("the height trails the slot, and finalized trails confirmed trails processed", async () => {
    const slots = [];
    for (const commitment of ["processed", "confirmed", "finalized"]) {
      slots.push((await call("getSlot", [{ commitment }])).result as number);
    }
    expect(slots[0]! > slots[1]! && slots[1]! > slots[2]!).toBe(true);
    expect((await call("getBlockHeight")).result).toBeLessThan(slots[2]!);
  });
});

describe("transactions", () => {
  test("one that is sent lands once, moves lamports, and is told as a node tells it", async () => {
    const before = (await call("getBalance", [bob.address])).result.value as number;
    const { base64, signature } = await transfer(5_000n);
    expect((await send(base64)).result).toBe(signature);
    expect((await call("getBalance", [bob.address])).result.value).toBe(before + 5_000);

    const { value } = (await call("getSignatureStatuses", [[signature, signature]])).result;
    expect(value[0]).toMatchObject({ err: null, status: { Ok: null } });
    expect(value[0].confirmationStatus).toBeOneOf(["processed", "confirmed"]);
    const options = { commitment: "confirmed", maxSupportedTransactionVersion: 0 };
    let told = (await call("getTransaction", [signature, options])).result;
    for (let i = 0; told === null && i < 200; i++) {
      await Bun.sleep(20);
      told = (await call("getTransaction", [signature, options])).result;
    }
    expect(told).toMatchObject({ version: 0, meta: { err: null, fee: 5_000 } });
    expect(told.meta.postBalances[1] - told.meta.preBalances[1]).toBe(5_000);
    expect(told.transaction.signatures).toEqual([signature]);

    const again = await send(base64);
    expect(again.error).toMatchObject({ code: -32_002, data: { err: "AlreadyProcessed" } });
    expect(again.error?.message).toBe(
      "Transaction simulation failed: This transaction has already been processed",
    );
    expect((await call("getBalance", [bob.address])).result.value).toBe(before + 5_000);
  });

  test("base58 is the encoding of those that name none", async () => {
    const { base58, signature } = await transfer(6_000n);
    expect((await call("sendTransaction", [base58])).result).toBe(signature);
  });

  test("one that fails in simulation is refused with the reason and the log", async () => {
    const { base64 } = await transfer(10n ** 18n);
    const { error } = await send(base64);
    expect(error).toMatchObject({
      code: -32_002,
      message:
        "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1",
      data: { err: { InstructionError: [0, { Custom: 1 }] } },
    });
    expect(error?.data.logs.length).toBeGreaterThan(1);
    const skipped = await send((await transfer(10n ** 18n + 1n)).base64, { skipPreflight: true });
    const { value } = (await call("getSignatureStatuses", [[skipped.result]])).result;
    expect(value[0].err).toEqual({ InstructionError: [0, { Custom: 1 }] });
  });

  test("a blockhash nobody handed out, a broken signature, bytes that are none", async () => {
    const blockhash = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
    const options = { from: alice, to: bob.address, lamports: 1n, blockhash };
    const stale = await signedTransfer(options);
    expect((await send(stale.base64)).error).toMatchObject({
      code: -32_002,
      message: "Transaction simulation failed: Blockhash not found",
    });
    const bytes = Uint8Array.fromBase64((await transfer(7n)).base64);
    bytes[3]! ^= 1;
    expect((await send(bytes.toBase64())).error).toMatchObject({ code: -32_003 });
    expect((await send("AAAA")).error).toMatchObject({ code: -32_602 });
    expect((await send("!")).error?.message).toBe("invalid base64 encoding");
  });

  test("simulation changes nothing and shows the accounts as they would be", async () => {
    const before = (await call("getBalance", [bob.address])).result.value as number;
    const { base64 } = await transfer(9_000n);
    const accounts = { addresses: [bob.address], encoding: "base64" };
    const { result } = await call("simulateTransaction", [
      base64,
      { encoding: "base64", sigVerify: true, accounts },
    ]);
    expect(result.value).toMatchObject({ err: null, unitsConsumed: 150 });
    expect(result.value.accounts[0].lamports).toBe(before + 9_000);
    expect((await call("getBalance", [bob.address])).result.value).toBe(before);
  });

  test("equal airdrops are two transactions", async () => {
    const before = (await call("getBalance", [bob.address])).result.value as number;
    const drops = await Promise.all([1, 2].map(() => call("requestAirdrop", [bob.address, 11])));
    expect(new Set(drops.map(({ result }) => result)).size).toBe(2);
    expect((await call("getBalance", [bob.address])).result.value).toBe(before + 22);
  });
});

test("a blockhash is good for 150 blocks and no longer", () => {
  let nowMs = 0;
  const slots = new Slots(() => nowMs);
  const { blockhash, lastValidBlockHeight } = slots.latestBlockhash("processed");
  nowMs += 150 * 400;
  expect(slots.heightOf(slots.current("processed"))).toBe(lastValidBlockHeight);
  expect(slots.isValidBlockhash(blockhash)).toBe(true);
  nowMs += 400;
  expect(slots.isValidBlockhash(blockhash)).toBe(false);
});
