import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createPublicClient, createWalletClient, erc20Abi, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import { ApiError, type ErrorCode } from "../../src/lib/errors.ts";
import { messageFields, type Mood } from "../../src/sandbox/cctp/moods.ts";
import { accounts, temporaryDirectory } from "../support/sandbox.ts";
import { type RunningBridge, startBridge } from "./running.ts";
import {
  ARC,
  authorize,
  BASE,
  countFor,
  freshRecipient,
  startWorld,
  usdcAddress,
  type World,
} from "./world.ts";

let world: World;
let running: RunningBridge;
beforeAll(async () => {
  world = await startWorld();
  running = startBridge(world);
}, 60_000);
afterEach(() => world.attestation.setMood({}));
afterAll(async () => {
  await running.stop();
  await world.stop();
});

const caller = { keyId: "key", environment: "test" } as const;
const TEN = 10_000_000n;

const request = (changes: Partial<BridgeRequest> = {}): BridgeRequest => ({
  fromChainId: ARC,
  toChainId: BASE,
  amount: "10.00",
  token: "USDC",
  recipientAddress: freshRecipient(),
  ...changes,
});

async function codeOf(start: Promise<unknown>): Promise<ErrorCode | "accepted"> {
  try {
    await start;
    return "accepted";
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

/** Sends a transfer all the way and expects exactly the amount, by exactly one burn and mint. */
async function expectDelivered(body: BridgeRequest, amount = TEN) {
  const { transactionHash } = await running.bridge.transfer(caller, body);
  const status = await running.finished(transactionHash);
  expect(status.status).toBe("completed");
  expect(await world.usdcOf(body.toChainId, body.recipientAddress)).toBe(amount);
  expect((await countFor(world, body.fromChainId, body.recipientAddress)).burns).toBe(1);
  expect((await countFor(world, body.toChainId, body.recipientAddress)).mints).toBe(1);
  return status;
}

/**
 * Another process's bridge with a ledger of its own. The two share a wallet, so it begins when the
 * other's transactions are in blocks, and ends when its own are.
 */
async function separate(options: Parameters<typeof startBridge>[1]): Promise<RunningBridge> {
  await inBlocks(running);
  const other = startBridge(world, options);
  const stop = async () => {
    await inBlocks(other);
    await other.stop();
  };
  return { ...other, stop };
}

async function inBlocks({ database }: RunningBridge): Promise<void> {
  for (const { id } of await database.bridge.list({ limit: 1_000 })) {
    for (const { chainId, nonce } of await database.bridge.transactions(id)) {
      const client = createPublicClient({ transport: http(world.chains[chainId]!.url) });
      const { address } = accounts.operator;
      while ((await client.getTransactionCount({ address })) <= nonce!) await Bun.sleep(20);
    }
  }
}

describe("moods of the attestation service", () => {
  const moods: readonly (readonly [string, Mood])[] = [
    ["at its best", {}],
    ["not indexed for a while", { unseenPolls: 6 }],
    ["seen and not processed", { emptyPolls: 4 }],
    ["failing with 500", { failingPolls: 4, failingStatus: 500 }],
    ["failing with 503", { failingPolls: 4 }],
    ["answering broken JSON", { malformedPolls: 4 }],
    ["pending for a while", { pendingPolls: 6 }],
    ["slow for want of a fee", { pendingPolls: 3, delayReason: "insufficient_fee" }],
    ["slow for a large amount", { pendingPolls: 3, delayReason: "amount_above_max" }],
    [
      "slow for want of allowance",
      { pendingPolls: 3, delayReason: "insufficient_allowance_available" },
    ],
    [
      "everything at once",
      { unseenPolls: 2, emptyPolls: 2, failingPolls: 2, malformedPolls: 2, pendingPolls: 2 },
    ],
    ["an attestation that expired", { expired: true, forward: "fails" }],
    ["a forwarder that fails", { forward: "fails" }],
    ["a forwarder that is front-run", { forward: "front-run" }],
    ["a forwarder that never comes", { forward: "never" }],
  ];
  const ways = [
    [ARC, BASE, true],
    [BASE, ARC, true],
    [BASE, ARC, false],
  ] as const;

  test.each(moods)(
    "%s: the recipient gets exactly the amount",
    async (_, mood) => {
      world.attestation.setMood(mood);
      await Promise.all(
        ways.map(([fromChainId, toChainId, useForwarder]) =>
          expectDelivered(request({ fromChainId, toChainId, useForwarder })),
        ),
      );
    },
    60_000,
  );

  test("a 429 block is rested out", async () => {
    world.attestation.setMood({ pendingPolls: 1 });
    const body = request();
    const { transactionHash } = await running.bridge.transfer(caller, body);
    world.attestation.block(300);
    expect((await running.finished(transactionHash)).status).toBe("completed");
    expect(await world.usdcOf(BASE, body.recipientAddress)).toBe(TEN);
  });

  test("without any quote we mint ourselves", async () => {
    world.attestation.block(60_000);
    const fresh = await separate({ worker: false });
    const body = request({ recipientAddress: freshRecipient() });
    const { transactionHash } = await fresh.bridge.transfer(caller, body);
    expect(await fresh.bridge.status(transactionHash)).toMatchObject({
      useForwarder: false,
      fee: "0.000000",
    });
    await fresh.stop();
    world.attestation.block(0);
  });

  test("a fee that nobody takes is minted with the amount, as the protocol has it: never less, and within the cap", async () => {
    world.attestation.setMood({ forward: "underpaid" });
    const status = await expectDelivered(request(), TEN + 209_052n);
    expect(status.fee).toBe("0.000000");
    const [row] = await running.database.bridge.list({ limit: 1 });
    const attested = (await running.database.bridge.events(row!.id)).find(
      ({ event }) => event === "attested",
    );
    expect(attested?.detail).toMatchObject({ feeExecuted: "0", feeLeft: "209052" });
    // Where no forwarder is paid there is no fee that could be left over.
    await expectDelivered(request({ useForwarder: false }));
  });

  test("the delay's reason is shown while it lasts", async () => {
    world.attestation.setMood({ pendingPolls: 30, delayReason: "amount_above_max" });
    const { transactionHash } = await running.bridge.transfer(caller, request());
    const reasons = new Set<string | null>();
    while ((await running.bridge.status(transactionHash)).status === "pending") {
      reasons.add((await running.bridge.status(transactionHash)).delayReason);
      await Bun.sleep(10);
    }
    expect(reasons).toContain("amount_above_max");
  });
});

test("a forged message, each field altered in turn, is never minted", async () => {
  const started: { forgedField: string; hash: string; recipient: string }[] = [];
  for (const forgedField of messageFields) {
    world.attestation.setMood({ forgedField, forgedPolls: 4, forward: "fails" });
    const body = request({ fromChainId: BASE, toChainId: ARC });
    const { transactionHash: hash } = await running.bridge.transfer(caller, body);
    // The mood holds for what was asked for while it lasted.
    while ((await running.bridge.status(hash)).delayReason !== "needs_attention") {
      expect((await running.bridge.status(hash)).status).toBe("pending");
      await Bun.sleep(2);
    }
    expect((await countFor(world, ARC, body.recipientAddress)).mints).toBe(0);
    started.push({ forgedField, hash, recipient: body.recipientAddress });
  }
  // The honest message that follows is minted; of the forged ones, none was.
  for (const { forgedField, hash, recipient } of started) {
    const { status } = await running.finished(hash);
    const { mints } = await countFor(world, ARC, recipient);
    const balance = await world.usdcOf(ARC, recipient);
    expect([forgedField, status, mints, balance]).toEqual([forgedField, "completed", 1, TEN]);
  }
}, 60_000);

describe("many at once", () => {
  test("100 identical requests with one Idempotency-Key are one transfer with 100 equal answers", async () => {
    const body = request();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => running.bridge.transfer(caller, { ...body }, "same")),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    await running.finished(answers[0]!.transactionHash);
    expect(await countFor(world, ARC, body.recipientAddress)).toMatchObject({ burns: 1 });
    const other = running.bridge.transfer(caller, { ...body, amount: "11" }, "same");
    expect(await codeOf(other)).toBe("IDEMPOTENCY_CONFLICT");
    // The same amount spelled otherwise, and another key of the same name.
    const again = await running.bridge.transfer(caller, { ...body, amount: "10" }, "same");
    expect(again).toEqual(answers[0]!);
    const elsewhere = await running.bridge.transfer({ ...caller, keyId: "other" }, body, "same");
    expect(elsewhere.transactionHash).not.toBe(again.transactionHash);
  }, 60_000);

  test("two processes given the same Idempotency-Key make one transfer", async () => {
    const databaseUrl = `file:${temporaryDirectory()}/b.db`;
    const [one, two] = [await separate({ databaseUrl }), await separate({ databaseUrl })];
    const body = request();
    const answers = await Promise.all(
      [one, two, one, two].map(({ bridge }) => bridge.transfer(caller, body, "k")),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    await one.finished(answers[0]!.transactionHash);
    expect((await countFor(world, ARC, body.recipientAddress)).burns).toBe(1);
    await Promise.all([one.stop(), two.stop()]);
  }, 60_000);

  test("50 different transfers of one signer are 50 burns without a gap in the nonces", async () => {
    const client = createPublicClient({ transport: http(world.chains[ARC]!.url) });
    const { address } = accounts.operator;
    const before = await client.getTransactionCount({ address });
    const bodies = Array.from({ length: 50 }, () => request({ amount: "1", useForwarder: false }));
    const times: number[] = [];
    const answers = await Promise.all(
      bodies.map(async (body) => {
        const startedAt = performance.now();
        const answer = await running.bridge.transfer(caller, body);
        times.push(performance.now() - startedAt);
        return answer;
      }),
    );
    expect(new Set(answers.map(({ transactionHash }) => transactionHash)).size).toBe(50);
    for (const { transactionHash } of answers) {
      expect((await running.finished(transactionHash)).status).toBe("completed");
    }
    // An allowance and a burn each.
    expect(await client.getTransactionCount({ address })).toBe(before + 100);
    for (const { recipientAddress } of bodies) {
      expect(await world.usdcOf(BASE, recipientAddress)).toBe(1_000_000n);
    }
    expect(Math.max(...times)).toBeLessThan(5_000);
  }, 40_000);
});

describe("the sender's own funds", () => {
  const wallet = accounts.wallets[2]!;

  const signed = (body: BridgeRequest, payee?: `0x${string}`) =>
    authorize(world, wallet, body, payee);

  test("are taken with an authorization bound to the transfer, and burned", async () => {
    const [senderBefore, operatorBefore] = await Promise.all([
      world.usdcOf(ARC, wallet.address),
      world.usdcOf(ARC, accounts.operator.address),
    ]);
    const body = request({ senderAddress: wallet.address, useForwarder: false });
    await expectDelivered(await signed(body));
    expect(await world.usdcOf(ARC, wallet.address)).toBe(senderBefore - TEN);
    expect(await world.usdcOf(ARC, accounts.operator.address)).toBe(operatorBefore);
  });

  test("are not taken for another amount, route, recipient, payee or without senderAddress", async () => {
    const body = request({ senderAddress: wallet.address });
    const good = await signed(body);
    const stranger = accounts.wallets[1]!.address;
    for (const wrong of [
      { ...good, amount: "11.00" },
      { ...good, fromChainId: BASE, toChainId: ARC },
      { ...good, recipientAddress: freshRecipient() },
      { ...good, senderAddress: stranger },
      await signed(body, stranger),
      { ...good, authorization: { ...good.authorization, validBefore: 1 } },
    ]) {
      expect(await codeOf(running.bridge.transfer(caller, wrong))).toBe("INVALID_AUTHORIZATION");
    }
    const { senderAddress: _, ...anonymous } = good;
    expect(await codeOf(running.bridge.transfer(caller, anonymous))).toBe("INVALID_AUTHORIZATION");
  });

  test("an authorization used a second time is refused", async () => {
    const body = await signed(request({ senderAddress: wallet.address, useForwarder: false }));
    await expectDelivered(body);
    expect(await codeOf(running.bridge.transfer(caller, body))).toBe("INVALID_AUTHORIZATION");
  });

  test("an authorization used twice at once is taken and burned once", async () => {
    const body = await signed(request({ senderAddress: wallet.address, useForwarder: false }));
    const before = await world.usdcOf(ARC, wallet.address);
    const started = await Promise.all([
      running.bridge.transfer(caller, body),
      running.bridge.transfer(caller, body),
    ]);
    const ends = await Promise.all(
      started.map(({ transactionHash }) => running.finished(transactionHash)),
    );
    expect(ends.map(({ status }) => status).toSorted()).toEqual(["completed", "failed"]);
    expect((await countFor(world, ARC, body.recipientAddress)).burns).toBe(1);
    expect(before - (await world.usdcOf(ARC, wallet.address))).toBe(TEN);
  });

  /** Runtime code of wallets whose `isValidSignature` answers yes (ERC-1271), and nothing. */
  const contractWallets = [
    ["0x631626ba7e60e01b60005260206000f3", "accepted"],
    ["0x60006000f3", "INVALID_AUTHORIZATION"],
  ] as const;
  test.each(contractWallets)("of a wallet that is a contract, %s: %s", async (code, expected) => {
    const chain = world.chains[ARC]!;
    const contract = freshRecipient();
    await chain.rpc.call("anvil_setCode", [contract, code]);
    await createWalletClient({
      account: privateKeyToAccount(wallet.privateKey),
      transport: http(chain.url),
    }).writeContract({
      chain: null,
      address: usdcAddress(chain),
      abi: erc20Abi,
      functionName: "transfer",
      args: [contract, TEN],
    });
    while ((await world.usdcOf(ARC, contract)) < TEN) await Bun.sleep(10);
    const body = request({ senderAddress: contract, useForwarder: false });
    const { authorization, ...rest } = await signed(body);
    const signature = `${authorization.signature}${"00".repeat(40)}`;
    const asked = {
      ...rest,
      senderAddress: contract,
      authorization: { ...authorization, signature },
    };
    if (expected === "accepted") await expectDelivered(asked);
    else expect(await codeOf(running.bridge.transfer(caller, asked))).toBe(expected);
    expect(await world.usdcOf(ARC, contract)).toBe(expected === "accepted" ? 0n : TEN);
  });
});

const limited = (bridge: NonNullable<World["configFile"]["bridge"]>) =>
  separate({ worker: false, bridge: { ...world.configFile.bridge, ...bridge } });

describe("limits", () => {
  test("per transfer, per key and day, and per day, on reserved amounts", async () => {
    const { bridge, stop } = await limited({
      limits: { perTransferUsdc: "10", perKeyAndDayUsdc: "25", perDayUsdc: "40" },
    });
    const send = (keyId: string, amount: string) =>
      codeOf(bridge.transfer({ ...caller, keyId }, request({ amount, useForwarder: false })));
    expect(await send("a", "10.000001")).toBe("BRIDGE_LIMIT_EXCEEDED");
    const burst = await Promise.all(Array.from({ length: 5 }, () => send("a", "10")));
    expect(burst.filter((code) => code === "accepted")).toHaveLength(2);
    expect(await send("a", "5")).toBe("accepted");
    expect(await send("a", "0.000001")).toBe("BRIDGE_LIMIT_EXCEEDED");
    expect(await send("b", "10")).toBe("accepted");
    expect(await send("b", "5.000001")).toBe("BRIDGE_LIMIT_EXCEEDED");
    await stop();
  });

  test("a key's own limits hold within the operator's, of which it can have no more", async () => {
    const { bridge, stop } = await limited({
      limits: { perTransferUsdc: "10", perKeyAndDayUsdc: "25", perDayUsdc: "1000" },
    });
    const send = (keyId: string, amount: string, perTransferUsdc: bigint, perDayUsdc: bigint) => {
      const limits = {
        perTransferAtomic: perTransferUsdc * 1_000_000n,
        perDayAtomic: perDayUsdc * 1_000_000n,
      };
      const body = request({ amount, useForwarder: false });
      return codeOf(bridge.transfer({ ...caller, keyId, limits }, body));
    };
    expect(await send("small", "4.000001", 4n, 9n)).toBe("BRIDGE_LIMIT_EXCEEDED");
    const burst = await Promise.all(Array.from({ length: 4 }, () => send("small", "4", 4n, 9n)));
    expect(burst.filter((code) => code === "accepted")).toHaveLength(2);
    expect(await send("small", "1.000001", 4n, 9n)).toBe("BRIDGE_LIMIT_EXCEEDED");
    expect(await send("small", "1", 4n, 9n)).toBe("accepted");
    expect(await send("large", "10.000001", 500n, 500n)).toBe("BRIDGE_LIMIT_EXCEEDED");
    expect(await send("large", "10", 500n, 500n)).toBe("accepted");
    expect(await send("large", "10", 500n, 500n)).toBe("accepted");
    expect(await send("large", "5.000001", 500n, 500n)).toBe("BRIDGE_LIMIT_EXCEEDED");
    await stop();
  });

  test("the kill switch takes no new transfers and finishes those under way", async () => {
    const databaseUrl = `file:${temporaryDirectory()}/k.db`;
    const before = await separate({ databaseUrl, worker: false });
    const { transactionHash } = await before.bridge.transfer(caller, request());
    await before.stop();
    const bridge = { ...world.configFile.bridge, enabled: false };
    const after = await separate({ databaseUrl, bridge });
    expect(await codeOf(after.bridge.transfer(caller, request()))).toBe("BRIDGE_DISABLED");
    expect((await after.finished(transactionHash)).status).toBe("completed");
    await after.stop();
  });

  test("forwarding above the cap of fees is minted by us instead", async () => {
    const { bridge, stop } = await limited({ maxFeeBps: 1 });
    const { transactionHash } = await bridge.transfer(caller, request());
    expect(await bridge.status(transactionHash)).toMatchObject({ useForwarder: false });
    await stop();
  });

  test("an amount beyond the operator's funds answers 500 and reserves nothing", async () => {
    const { bridge, database, stop } = await limited({
      limits: { perTransferUsdc: "99999999", perKeyAndDayUsdc: "99999999", perDayUsdc: "99999999" },
    });
    expect(await codeOf(bridge.transfer(caller, request({ amount: "90000000" })))).toBe(
      "BRIDGE_FAILED",
    );
    expect(await database.bridge.list({ limit: 10 })).toEqual([]);
    await stop();
  });
});

describe("amounts", () => {
  test.each(["10.00", "0.000001", "1", "10"])("%s is delivered", async (amount) => {
    const atomic = BigInt(Math.round(Number(amount) * 1e6));
    await expectDelivered(request({ amount }), atomic);
  });

  test.each([
    "1e3",
    "-1",
    "0",
    "1.0000001",
    "01.0",
    "1".repeat(40),
    "",
    " 1",
    "+1",
    "1.",
    ".5",
    "0.0",
  ])("%p is refused", async (amount) => {
    const code = await codeOf(running.bridge.transfer(caller, request({ amount })));
    expect(["INVALID_FIELD", "BRIDGE_LIMIT_EXCEEDED"]).toContain(code);
  });
});

test("a transfer of an unknown hash is not found", async () => {
  expect(await codeOf(running.bridge.status(`0x${"00".repeat(32)}`))).toBe("TRANSFER_NOT_FOUND");
});
