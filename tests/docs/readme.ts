import { join } from "node:path";
import { priceTable } from "../../src/access/priceTable.ts";

const README = join(import.meta.dir, "../../README.md");
const START =
  "<!-- Prices: written by `bun tests/docs/readme.ts` from src/access/operations.ts. -->\n";
const END = "<!-- End of prices. -->";

/** The README, and what it would be with the prices of the code. */
export async function readmeWithPrices(): Promise<{ present: string; right: string }> {
  const present = await Bun.file(README).text();
  const [before = "", rest = ""] = present.split(START);
  const after = rest.slice(rest.indexOf(END));
  return { present, right: `${before}${START}\n${priceTable()}\n\n${after}` };
}

if (import.meta.main) await Bun.write(README, (await readmeWithPrices()).right);
