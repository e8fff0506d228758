import { afterAll, beforeAll, expect, test } from "bun:test";
import { encodeFunctionData, erc20Abi } from "viem";
import { accounts } from "../support/sandbox.ts";
import { type Stack, startStack } from "./stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

test("a token's transfers arrive over the service's own socket, and the ledger has them", async () => {
  const { secret } = await stack.service.key();
  const url = `${stack.service.base.replace("http", "ws")}/rpc/5042`;
  const socket = new WebSocket(url, ["jsonrpc", `key.${secret}`]);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const messages: { id?: number; params?: { result: { topics: string[] } } }[] = [];
  let onMessage: (() => void) | undefined;
  socket.addEventListener("message", ({ data }) => {
    messages.push(JSON.parse(String(data)));
    onMessage?.();
  });
  const received = (count: number) =>
    new Promise<void>((resolve) => {
      onMessage = () => {
        if (messages.length >= count) resolve();
      };
      onMessage?.();
    });

  const token = stack.chain.deployment.tokens.find(({ symbol }) => symbol === "USDC")?.address;
  const params = ["logs", { address: token }];
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params }));
  await received(1);
  const [from, to] = accounts.wallets;
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transfer",
    args: [to?.address ?? "0x", 5n],
  });
  await stack.chain.rpc.call("eth_sendTransaction", [{ from: from?.address, to: token, data }]);
  await received(2);
  expect(messages[1]?.params?.result.topics).toHaveLength(3);

  const metrics = await (await fetch(`${stack.service.origin}/metrics`)).text();
  expect(metrics).toContain("causeway_rpc_sockets 1");
  expect(metrics).toContain("causeway_rpc_subscriptions 1");
  const usage = await fetch(`${stack.service.base}/usage`, { headers: { "x-api-key": secret } });
  expect((await usage.json()).data).toMatchObject({ totalCu: 2 });

  const closed = new Promise<number>((resolve) =>
    socket.addEventListener("close", ({ code }) => resolve(code)),
  );
  stack.service.closeSockets();
  expect(await closed).toBe(1001);
});
