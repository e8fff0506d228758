import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { buildTxDoc, dexesDoc, quoteDoc } from "../../src/swap/docs.ts";
import { startSwapApi, startSwapWorld, type SwapWorld } from "./support.ts";

let world: SwapWorld;
let api: Awaited<ReturnType<typeof startSwapApi>>;

beforeAll(async () => {
  world = await startSwapWorld();
  api = await startSwapApi(world);
});
afterAll(async () => {
  await api.stop();
  await world.stop();
});

describe("the API documents", () => {
  test("examples of requests work as they stand on a local chain", async () => {
    expect((await api.post("quote", quoteDoc.request!.example)).status).toBe(200);
    expect((await api.post("build-tx", buildTxDoc.request!.example)).status).toBe(200);
  });

  test.each([quoteDoc, buildTxDoc, dexesDoc])("examples of answers fit their schema", (doc) => {
    expect([...Value.Errors(doc.response.schema, doc.response.example)]).toEqual([]);
  });

  test("real answers fit the documented schema", async () => {
    const quoted = (await api.post("quote", quoteDoc.request!.example)).body;
    const built = (await api.post("build-tx", buildTxDoc.request!.example)).body;
    const dexes = (await api.get("dexes")).body;
    expect([...Value.Errors(quoteDoc.response.schema, quoted)]).toEqual([]);
    expect([...Value.Errors(buildTxDoc.response.schema, built)]).toEqual([]);
    expect([...Value.Errors(dexesDoc.response.schema, dexes)]).toEqual([]);
  });
});
