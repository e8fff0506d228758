import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { WebSocketProvider } from "ethers";
import { createPublicClient, type Log as ViemLog, webSocket } from "viem";
import { foundry } from "viem/chains";
import { registryOf } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";
import { EMITTER, type EmittingChain, startEmittingChain, word } from "./emitter.ts";
import { socketUrl } from "./socket.ts";

let chain: EmittingChain;
let proxy: Proxy;

beforeAll(async () => {
  chain = await startEmittingChain(foundry.id);
  const members = { id: foundry.id, blockTimeMs: 250 };
  proxy = await startProxy(registryOf([chain.anvil.url], members));
}, 60_000);
afterAll(async () => {
  await proxy.stop();
  await chain.anvil.stop();
});

const url = () => socketUrl(proxy, foundry.id).replace("//", `//key:${proxy.secret}@`);

describe("viem", () => {
  test("reads, batches of reads, errors", async () => {
    const client = createPublicClient({ chain: foundry, transport: webSocket(url()) });
    const [id, block, code] = await Promise.all([
      client.getChainId(),
      client.getBlock(),
      client.getCode({ address: EMITTER as `0x${string}` }),
    ]);
    expect([id, block.number, code?.length]).toEqual([foundry.id, expect.any(BigInt), 44]);
    await expect(client.request({ method: "eth_accounts" as "eth_chainId" })).rejects.toMatchObject(
      {
        code: -32_601,
      },
    );
    (await client.transport.getRpcClient()).close();
  });

  test("watches blocks and events by subscription, and stops", async () => {
    const client = createPublicClient({ chain: foundry, transport: webSocket(url()) });
    const numbers: bigint[] = [];
    const logs: ViemLog[] = [];
    const done = Promise.withResolvers<void>();
    const check = () => {
      if (numbers.length >= 5 && logs.length >= 5) done.resolve();
    };
    const stops = [
      client.watchBlockNumber({
        onBlockNumber: (number) => {
          numbers.push(number);
          check();
        },
      }),
      client.watchEvent({
        address: EMITTER as `0x${string}`,
        onLogs: (found) => {
          logs.push(...found);
          check();
        },
      }),
    ];
    const until = performance.now() + 5_000;
    while (proxy.connections.counts().subscriptions < 2 && performance.now() < until) {
      await Bun.sleep(5);
    }
    for (let n = 0; n < 5; n++) await chain.emit(n);
    await done.promise;
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0n) + BigInt(index)));
    expect(logs.slice(0, 2).map(({ topics }) => topics[1])).toEqual([
      word(0) as `0x${string}`,
      word(0) as `0x${string}`,
    ]);
    for (const stop of stops) stop();
    while (proxy.connections.counts().subscriptions > 0 && performance.now() < until) {
      await Bun.sleep(5);
    }
    expect(proxy.connections.counts().subscriptions).toBe(0);
    (await client.transport.getRpcClient()).close();
  });
});

test("ethers' WebSocketProvider reads and follows blocks and events", async () => {
  const provider = new WebSocketProvider(
    () =>
      new WebSocket(socketUrl(proxy, foundry.id), {
        headers: { "x-api-key": proxy.secret },
      } as unknown as string[]) as never,
    foundry.id,
    { staticNetwork: true },
  );
  const blocks: number[] = [];
  const topics: string[] = [];
  const done = Promise.withResolvers<void>();
  const check = () => {
    if (blocks.length >= 3 && topics.length >= 3) done.resolve();
  };
  expect((await provider.getNetwork()).chainId).toBe(BigInt(foundry.id));
  await provider.on("block", (number: number) => {
    blocks.push(number);
    check();
  });
  await provider.on({ address: EMITTER, topics: [word(2)] }, (log: { topics: string[] }) => {
    topics.push(String(log.topics[1]));
    check();
  });
  const until = performance.now() + 5_000;
  while (proxy.connections.counts().subscriptions < 2 && performance.now() < until) {
    await Bun.sleep(5);
  }
  for (let n = 0; n < 3; n++) await chain.emit(n);
  await done.promise;
  expect(topics).toEqual([0, 1, 2].map(word));
  expect(blocks).toEqual(blocks.map((_, index) => (blocks[0] ?? 0) + index));
  await provider.destroy();
});
