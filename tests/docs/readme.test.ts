import { expect, test } from "bun:test";
import { readmeWithPrices } from "./readme.ts";

test("the README's prices are those of the operations table; `bun tests/docs/readme.ts` writes them", async () => {
  const { present, right } = await readmeWithPrices();
  expect(present).toBe(right);
});
