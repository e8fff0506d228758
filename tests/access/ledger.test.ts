import { expect, test } from "bun:test";
import { runKills } from "./killRun.ts";
import { runLedger } from "./ledgerRun.ts";
import { startNodes } from "./load.ts";
import { openLedger, startRealService } from "./realService.ts";
import { ledger, temporaryDirectory } from "./support.ts";

test("after random load of every kind, ledger, receipts and the sender's own count are equal", async () => {
  const run = await runLedger(20_000);
  expect(run.sent).toBe(20_000);
  expect(Object.keys(run.statuses)).toEqual(expect.arrayContaining(["200", "400", "401", "403"]));
  expect(run.statuses["429"]).toBeGreaterThan(0);
  expect([...run.ledger].toSorted()).toEqual([...run.counted].toSorted());
  expect(run.receiptsCu).toBe(run.ledgerCu);
}, 120_000);

test("1,000 parallel requests on a limit of 100, over every path at once, admit and charge exactly 100", async () => {
  using directory = temporaryDirectory();
  const { database, access } = await openLedger(directory.path);
  const nodes = startNodes();
  const service = await startRealService(directory.path, nodes.urls);
  const input = { environment: "test", scopes: ["read"], windowLimit: 100 } as const;
  const { key, secret } = await access.keys.create(input, "test");
  const headers = { "x-api-key": secret };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_gasPrice", params: [] });
  const api = `${service.origin}/api/public`;
  const calls = Array.from({ length: 1_000 }, (_, index) =>
    index % 2
      ? fetch(`${api}/swap/dexes`, { headers })
      : fetch(`${api}/rpc/5042`, { method: "POST", headers, body }),
  );
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.filter((status) => status === 429)).toHaveLength(900);
  expect((await ledger(database, key.id)).requests).toBe(100);
  await service.kill();
  await nodes.stop();
  database.close();
}, 60_000);

test("a service killed under load has every answered request in its ledger, and little more", async () => {
  for (const { answered, answeredCu, ledgerCu, lost, inFlightCu } of await runKills(2)) {
    expect(answered).toBeGreaterThan(0);
    expect(lost).toEqual([]);
    expect(ledgerCu).toBeLessThanOrEqual(answeredCu + inFlightCu);
  }
}, 120_000);
