import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import { accounts, temporaryDirectory } from "../support/sandbox.ts";
import { allCompleted, runUntilDeath } from "./death.ts";
import { startBridge } from "./running.ts";
import { ARC, authorize, BASE, countFor, freshRecipient, startWorld, type World } from "./world.ts";

/**
 * Guards the bridge's first promise: a process that dies anywhere burns and mints exactly once,
 * exactly the amount.
 */
let world: World;
beforeAll(async () => {
  world = await startWorld();
}, 60_000);
afterAll(() => world.stop());

/** Every point between two effects, of a transfer that is minted by us. */
const edges = [
  "created stored",
  "burn reserved",
  "burn signed",
  "burnSigned stored",
  "approve sent",
  "burn sent",
  "broadcast stored",
  "burn seen",
  "burned stored",
  "attestation seen",
  "attested stored",
  "mint reserved",
  "mint signed",
  "mintSigned stored",
  "mint settled",
  "mint seen",
  "minted stored",
];
/** The forwarder mints, so that there is no mint of ours to die at. */
const forwarded = new Set([
  "created stored",
  "burn signed",
  "burn sent",
  "attested stored",
  "mint seen",
]);
/** Further points of a transfer that takes the sender's funds first. */
const pullEdges = [
  "pull reserved",
  "pull signed",
  "pullSigned stored",
  "pull settled",
  "pulled stored",
];
const ROUNDS = 3;

interface Planned {
  readonly request: BridgeRequest;
  readonly dieAt: string;
}

/** Every edge in turn, the routes alternating from round to round. */
async function* planned(): AsyncGenerator<Planned> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, dieAt] of [...edges, ...pullEdges].entries()) {
      const isArc = (index + round) % 2 === 0;
      const request: BridgeRequest = {
        fromChainId: isArc ? ARC : BASE,
        toChainId: isArc ? BASE : ARC,
        amount: "10.00",
        token: "USDC",
        recipientAddress: freshRecipient(),
        useForwarder: round === 1 && forwarded.has(dieAt),
      };
      const isPull = pullEdges.includes(dieAt);
      yield { dieAt, request: isPull ? await authorize(world, sender, request) : request };
    }
  }
}

const sender = accounts.wallets[3]!;
const TEN = 10_000_000n;

test(`killed at each of ${edges.length + pullEdges.length} edges, ${ROUNDS} rounds: one burn and one mint each`, async () => {
  const databaseUrl = `file:${join(temporaryDirectory(), "bridge.db")}`;
  const funds = async () =>
    (await world.usdcOf(ARC, sender.address)) + (await world.usdcOf(BASE, sender.address));
  const fundsBefore = await funds();
  const transfers: Planned[] = [];
  for await (const plan of planned()) {
    const { dieAt, request } = plan;
    expect([dieAt, await runUntilDeath(world, databaseUrl, { request, dieAt })]).toEqual([
      dieAt,
      "SIGKILL",
    ]);
    transfers.push(plan);
  }

  const survivor = startBridge(world, { databaseUrl });
  const all = await survivor.database.bridge.list({ limit: 1_000 });
  expect(all).toHaveLength(transfers.length);
  await allCompleted(survivor);
  for (const { request, dieAt } of transfers) {
    const { fromChainId, toChainId, recipientAddress } = request;
    const { burns } = await countFor(world, fromChainId, recipientAddress);
    const { mints } = await countFor(world, toChainId, recipientAddress);
    const balance = await world.usdcOf(toChainId, recipientAddress);
    expect([dieAt, burns, mints, balance]).toEqual([dieAt, 1, 1, TEN]);
  }
  // Taken once for each transfer that had an authorization, and for no other.
  expect(fundsBefore - (await funds())).toBe(TEN * BigInt(pullEdges.length * ROUNDS));
  await survivor.stop();
}, 120_000);
