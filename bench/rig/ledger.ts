import { openSqlite } from "../../src/db/sqlite.ts";

const OPERATIONS = ["rpc", "quote", "build-tx", "balance", "prices"];
const HOUR_MS = 3_600_000;

/**
 * Fills the ledger of a service's database with what its keys would have been charged in the hours
 * before this one: the same number of rows for each key. Some million rows take a few seconds.
 * @param rows - about as many; 0: none
 */
export function loadLedger(databaseFile: string, rows: number): void {
  const { client } = openSqlite(databaseFile);
  // Nothing is lost if the machine stops now: the database is thrown away.
  client.run("PRAGMA journal_mode = OFF");
  client.run("PRAGMA synchronous = OFF");
  client.run("CREATE TEMP TABLE hours (hour INTEGER PRIMARY KEY)");
  client.run("CREATE TEMP TABLE operations (operation TEXT PRIMARY KEY)");
  const { count } = client
    .query<{ count: number }, []>("SELECT count(*) AS count FROM keys")
    .get() ?? { count: 1 };
  const thisHour = Math.floor(Date.now() / HOUR_MS);
  const hours = Math.round(rows / count / OPERATIONS.length);
  const addHour = client.prepare("INSERT INTO hours VALUES (?)");
  const addOperation = client.prepare("INSERT INTO operations VALUES (?)");
  client.transaction(() => {
    for (let back = hours; back > 0; back--) addHour.run(thisHour - back);
    for (const operation of OPERATIONS) addOperation.run(operation);
  })();
  // In the order of the primary key, so that rows and index are appended to.
  client.run(`
    INSERT INTO usage (key_id, hour, operation, chain_id, requests, cu)
    SELECT k.id, h.hour, o.operation, 5042, 7, 7
    FROM (SELECT id FROM keys ORDER BY id) k CROSS JOIN hours h CROSS JOIN operations o`);
  client.run("PRAGMA journal_mode = WAL");
  client.close();
}
