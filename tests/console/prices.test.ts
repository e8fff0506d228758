import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Stack, startStack } from "../app/stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const ask = (token: string) =>
  fetch(`${stack.service.origin}/console/api/prices`, {
    headers: { authorization: `Bearer ${token}` },
  });

test("the operator sees every source's health and each price's spread, nobody else does", async () => {
  expect((await ask("somebody")).status).toBe(401);
  const { secret } = await stack.service.key();
  await fetch(`${stack.service.base}/prices`, { headers: { "x-api-key": secret } });
  const answer = await ask("test-admin-token");
  expect(answer.status).toBe(200);
  const { data } = (await answer.json()) as {
    data: { assets: { symbol: string; spreadBps: number }[]; sources: object[] };
  };
  expect(data.assets.map(({ symbol }) => symbol).toSorted()).toEqual(["EURC", "USDC", "USDT"]);
  expect(data.sources.length).toBeGreaterThanOrEqual(4);
});
