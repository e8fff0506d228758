import { drive, makeKeys, readLedger, startNodes, type Sums } from "./load.ts";
import { openLedger, startRealService } from "./realService.ts";
import { temporaryDirectory } from "./support.ts";

/** What the generator counted and what the ledger says. */
export interface LedgerRun {
  readonly sent: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly counted: Sums;
  readonly ledger: Sums;
  /** Sum of all receipts, and of the ledger. */
  readonly receiptsCu: number;
  readonly ledgerCu: number;
  readonly seconds: number;
}

/** Sends random requests to the real service and reads its ledger afterwards. */
export async function runLedger(requests: number, clients = 64, seed = 1): Promise<LedgerRun> {
  using directory = temporaryDirectory();
  const { database, access } = await openLedger(directory.path);
  const keys = await makeKeys(access);
  const nodes = startNodes();
  const service = await startRealService(directory.path, nodes.urls);
  const startedAt = performance.now();
  try {
    const { origin } = service;
    const tally = await drive({ origin, keys, requests, clients, seed });
    const ledger = await readLedger(database, keys);
    return {
      sent: tally.sent,
      statuses: Object.fromEntries(tally.statuses),
      counted: tally.charged,
      ledger,
      receiptsCu: tally.receiptsCu,
      ledgerCu: [...ledger.values()].reduce((sum, { cu }) => sum + cu, 0),
      seconds: Math.round((performance.now() - startedAt) / 1000),
    };
  } finally {
    await service.kill();
    database.close();
    await nodes.stop();
  }
}

function total(sums: Sums): number {
  return [...sums.values()].reduce((sum, { requests }) => sum + requests, 0);
}

// bun tests/access/ledgerRun.ts [requests]
if (import.meta.main) {
  const run = await runLedger(Number(process.argv[2] ?? 1_000_000));
  const differing = [...new Set([...run.counted.keys(), ...run.ledger.keys()])].filter(
    (name) => !Bun.deepEquals(run.counted.get(name), run.ledger.get(name)),
  );
  const report = {
    sent: run.sent,
    statuses: run.statuses,
    seconds: run.seconds,
    countedRequests: total(run.counted),
    ledgerRequests: total(run.ledger),
    differenceRequests: total(run.counted) - total(run.ledger),
    differenceCu: run.receiptsCu - run.ledgerCu,
    rows: run.ledger.size,
    differingRows: differing,
  };
  process.stdout.write(`${Bun.inspect(report)}\n`);
  process.exit(differing.length === 0 && run.receiptsCu === run.ledgerCu ? 0 : 1);
}
