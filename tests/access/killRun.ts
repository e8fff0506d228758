import { seededRandom } from "../../src/lib/clock.ts";
import { drive, makeKeys, readLedger, startNodes, type Sums } from "./load.ts";
import { openLedger, startRealService } from "./realService.ts";
import { temporaryDirectory } from "./support.ts";

/** Most items of a batch the load sends. */
const MAX_ITEMS = 5;

/** One process that was killed under load. */
export interface KilledRound {
  readonly answered: number;
  /** Units of answers that arrived. */
  readonly answeredCu: number;
  /** Units the ledger grew by. */
  readonly ledgerCu: number;
  /** Answers that are not in the ledger. */
  readonly lost: readonly string[];
  /** Most units that requests under way at the kill can have cost. */
  readonly inFlightCu: number;
}

/** Kills the real service under load, again and again on one database, and compares each time. */
export async function runKills(rounds: number, clients = 64, seed = 1): Promise<KilledRound[]> {
  using directory = temporaryDirectory();
  const { database, access } = await openLedger(directory.path);
  const keys = await makeKeys(access);
  const nodes = startNodes();
  const random = seededRandom(seed);
  const results: KilledRound[] = [];
  let before: Sums = new Map();
  try {
    for (let round = 0; round < rounds; round++) {
      const service = await startRealService(directory.path, nodes.urls);
      const wanted = 500 + Math.floor(random() * 3_000);
      let [answered, isKilled] = [0, false];
      const onAnswer = () => {
        if (++answered < wanted || isKilled) return;
        isKilled = true;
        void service.kill();
      };
      const { origin } = service;
      const load = { origin, keys, requests: Number.POSITIVE_INFINITY, clients, onAnswer };
      const tally = await drive({ ...load, seed: seed + round });
      await service.kill();
      const ledger = await readLedger(database, keys);
      const grown = (name: string) => (ledger.get(name)?.cu ?? 0) - (before.get(name)?.cu ?? 0);
      const charged = [...tally.charged];
      results.push({
        answered,
        answeredCu: charged.reduce((sum, [, { cu }]) => sum + cu, 0),
        ledgerCu: [...ledger.keys()].reduce((sum, name) => sum + grown(name), 0),
        lost: charged.filter(([name, { cu }]) => grown(name) < cu).map(([name]) => name),
        inFlightCu: clients * MAX_ITEMS,
      });
      before = ledger;
    }
    return results;
  } finally {
    database.close();
    await nodes.stop();
  }
}

// bun tests/access/killRun.ts [rounds]
if (import.meta.main) {
  const rounds = await runKills(Number(process.argv[2] ?? 20));
  process.stdout.write(Bun.inspect.table(rounds));
  const isRight = ({ lost, ledgerCu, answeredCu, inFlightCu }: KilledRound) =>
    lost.length === 0 && ledgerCu <= answeredCu + inFlightCu;
  process.exit(rounds.every(isRight) ? 0 : 1);
}
