import { expect, test } from "bun:test";
import { nodeRpc } from "../../src/sandbox/rpc.ts";
import { testSandbox } from "../support/sandbox.ts";

test("the shared sandbox is one, and runs the service only once it is asked for", async () => {
  const sandbox = await testSandbox();
  expect(await testSandbox()).toBe(sandbox);
  const [url] = sandbox.info().chains["5042"]!.upstreams;
  expect(await nodeRpc(url!).call("eth_chainId")).toBe("0x13b2");

  await Promise.all([testSandbox({ service: true }), testSandbox({ service: true })]);
  const { baseUrl, keys } = sandbox.info();
  const response = await fetch(`${baseUrl}/api/public/prices`, {
    headers: { authorization: `Bearer ${keys!.read}` },
  });
  expect(response.status).toBe(200);
}, 60_000);
