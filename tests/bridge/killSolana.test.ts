import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { generateKeyPairSigner } from "@solana/kit";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import { accounts, temporaryDirectory } from "../support/sandbox.ts";
import { allCompleted, runUntilDeath } from "./death.ts";
import { startBridge } from "./running.ts";
import { ARC, freshRecipient, SOLANA, startWorld, usdcOnSolana, type World } from "./world.ts";

/** Guards, with Solana on either side, that a process that dies anywhere burns and mints once. */
let world: World;
beforeAll(async () => {
  world = await startWorld({ solana: true });
}, 60_000);
afterAll(() => world.stop());

const TEN = 10_000_000n;
const burnEdges = [
  "created stored",
  "burn signed",
  "burnSigned stored",
  "burn sent",
  "broadcast stored",
  "burn seen",
  "burned stored",
  "attested stored",
];
const mintEdges = ["mint signed", "mintSigned stored", "mint settled", "mint seen"];

test("killed at each edge of a burn and of a mint on Solana: one burn and one mint each", async () => {
  const databaseUrl = `file:${join(temporaryDirectory(), "bridge.db")}`;
  const operator = accounts.solana.operator.address;
  const [onSolana, onArc] = [
    await usdcOnSolana(world, operator),
    await world.usdcOf(ARC, accounts.operator.address),
  ];
  const common = { amount: "10.00", token: "USDC", useForwarder: false } as const;
  const away = burnEdges.map((dieAt) => ({
    dieAt,
    request: { ...common, fromChainId: SOLANA, toChainId: ARC, recipientAddress: freshRecipient() },
  }));
  const there: { dieAt: string; request: BridgeRequest }[] = [];
  for (const dieAt of mintEdges) {
    const recipientAddress: string = (await generateKeyPairSigner()).address;
    const request = { ...common, fromChainId: ARC, toChainId: SOLANA, recipientAddress };
    there.push({ dieAt, request });
  }
  for (const plan of [...away, ...there]) {
    const death = await runUntilDeath(world, databaseUrl, plan);
    expect([plan.dieAt, death]).toEqual([plan.dieAt, "SIGKILL"]);
  }
  const survivor = startBridge(world, { databaseUrl });
  await allCompleted(survivor);
  await survivor.stop();
  for (const { dieAt, request } of away) {
    const balance = await world.usdcOf(ARC, request.recipientAddress);
    expect([dieAt, balance]).toEqual([dieAt, TEN]);
  }
  for (const { dieAt, request } of there) {
    const balance = await usdcOnSolana(world, request.recipientAddress);
    expect([dieAt, balance]).toEqual([dieAt, TEN]);
  }
  // Without forwarder nothing is burned but the amounts, each once.
  const burnedOnSolana = onSolana - (await usdcOnSolana(world, operator));
  const burnedOnArc = onArc - (await world.usdcOf(ARC, accounts.operator.address));
  expect([burnedOnSolana, burnedOnArc]).toEqual([
    TEN * BigInt(away.length),
    TEN * BigInt(there.length),
  ]);
}, 120_000);
