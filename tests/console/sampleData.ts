import type { PrivateKeyAccount } from "viem/accounts";
import { openDatabase } from "../../src/db/index.ts";
import { seededRandom } from "../../src/lib/clock.ts";
import type { LocalService } from "../app/service.ts";
import type { NewKeyView } from "../../src/console/views.ts";
import { Visitor } from "./session.ts";

const HOURS = 720;
const DAY_MS = 86_400_000;

/** A developer with keys, a month of use, errors and a transfer, and an open invitation. */
export async function fillConsole(
  service: LocalService,
  databaseUrl: string,
  developer: PrivateKeyAccount,
): Promise<void> {
  const visitor = new Visitor(service.origin);
  await visitor.signIn(developer);
  const make = async (body: object) => (await visitor.ask<NewKeyView>("POST", "/keys", body)).data;
  const shop = await make({
    name: "checkout",
    environment: "test",
    scopes: ["read", "swaps", "bridges"],
    cuAllowance: 250,
  });
  const ticker = await make({
    name: "price ticker",
    environment: "live",
    scopes: ["read"],
    windowLimit: 60,
    ipAllowList: ["127.0.0.0/8", "::1"],
    expiresAt: Date.now() + 30 * DAY_MS,
  });
  const old = await make({ name: "old backend", environment: "test", scopes: ["read"] });
  await visitor.ask("POST", `/keys/${old.key.id}/revoke`);
  await callAll(service, shop.secret, ticker.secret, developer.address);
  await addHistory(databaseUrl, shop.key.id);
  const operator = new Visitor(service.origin);
  await operator.signInAsOperator();
  await operator.ask("POST", "/invitations", { note: "Ada, analytics team" });
  await service.access.activity.flush();
}

async function callAll(
  { base }: LocalService,
  shop: string,
  ticker: string,
  recipientAddress: string,
): Promise<void> {
  const call = (secret: string, path: string, body?: object) =>
    fetch(`${base}${path}`, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    });
  for (let turn = 1; turn <= 18; turn++) {
    await call(shop, "/swap/quote", quote("USDC", String(turn * 1_000_000)));
    await call(ticker, "/prices");
    for (const chainId of [5042, 5042002, 84532]) {
      const params = [recipientAddress, `0x${turn.toString(16)}`];
      const request = { jsonrpc: "2.0", id: turn, method: "eth_getBalance", params };
      await call(shop, `/rpc/${chainId}`, request);
    }
  }
  await call(ticker, "/swap/quote", quote("USDC", "1"));
  await call(shop, "/swap/quote", quote("NOPE", "1"));
  await call(shop, "/swap/quote", {});
  await call(shop, "/rpc/5042", { jsonrpc: "1.0" });
  const way = { fromChainId: 5042002, toChainId: 84532 };
  await call(shop, "/bridge", { ...way, amount: "1.50", token: "USDC", recipientAddress });
}

function quote(inputToken: string, inputAmount: string): object {
  return { inputToken, outputToken: "EURC", inputAmount, chainId: 5042 };
}

/** Use of the last month, as the ledger would have it. */
async function addHistory(databaseUrl: string, keyId: string): Promise<void> {
  const now = Math.floor(Date.now() / 3_600_000);
  const random = seededRandom(7);
  const operations = ["quote", "rpc", "prices", "build-tx"] as const;
  const rows = Array.from({ length: HOURS }, (_, back) => back + 1).flatMap((back) =>
    operations.map((operation, index) => {
      const wave = 1 + Math.sin(back / 4);
      const requests = Math.floor(random() * (80 - index * 18) * wave);
      const chainId = operation === "prices" ? 0 : 5042;
      return { keyId, hour: now - back, operation, chainId, requests, cu: requests };
    }),
  );
  const database = await openDatabase(databaseUrl);
  await database.usage.add(rows);
  await database.close();
}
