import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FetchRequest, JsonRpcProvider, Wallet } from "ethers";
import { createPublicClient, createWalletClient, http, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { HttpProvider, Web3 } from "web3";
import { sandboxAccounts } from "../../src/sandbox/accounts.ts";
import { type Anvil, startAnvil } from "../../src/sandbox/anvil.ts";
import { testProcesses } from "../support/chain.ts";
import { registryOf } from "../upstream/node.ts";
import { type Proxy, startProxy } from "./app.ts";

const { wallets } = sandboxAccounts();
const alice = wallets[0]!;
const bob = wallets[1]!;
let anvil: Anvil;
let proxy: Proxy;

beforeAll(async () => {
  anvil = await startAnvil(testProcesses(), { chainId: foundry.id });
  proxy = await startProxy(registryOf([anvil.url], { id: foundry.id }));
}, 60_000);
afterAll(async () => {
  await proxy.stop();
  await anvil.stop();
});

const headers = () => ({ "x-api-key": proxy.secret });

describe("answers are those of the node itself, byte for byte", () => {
  test.each([
    ["eth_chainId", "[]"],
    ["eth_blockNumber", "[]"],
    ["eth_getBlockByNumber", '["0x0",true]'],
    ["eth_getBalance", `["${alice.address}","latest"]`],
    ["eth_getTransactionReceipt", `["0x${"0".repeat(64)}"]`],
    ["eth_getLogs", '[{"fromBlock":"0x0","toBlock":"latest"}]'],
    ["eth_feeHistory", '["0x1","latest",[25,75]]'],
    ["eth_call", `[{"to":"${alice.address}","data":"0x"},"latest"]`],
    ["eth_call", '[{"data":"0x60006000fd"},"latest"]'],
    ["eth_getBalance", '["nonsense"]'],
    ["no_such_method", "[]"],
    ["net_version", "[]"],
  ])("%s %s", async (method, params) => {
    const body = `{"jsonrpc":"2.0","method":"${method}","params":${params},"id":42}`;
    const direct = await fetch(anvil.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const { status, text } = await proxy.post(body, foundry.id);
    expect([status, text]).toEqual([200, await direct.text()]);
  });
});

const transport = (options = {}) =>
  http(proxy.url(foundry.id), { fetchOptions: { headers: headers() }, ...options });

describe("viem", () => {
  test("reads, sends and waits", async () => {
    const chain = foundry;
    const client = createPublicClient({ chain, transport: transport(), pollingInterval: 20 });
    const account = privateKeyToAccount(alice.privateKey);
    const wallet = createWalletClient({ account, chain, transport: transport() });
    const hash = await wallet.sendTransaction({ to: bob.address, value: parseEther("1") });
    const receipt = await client.waitForTransactionReceipt({ hash });
    expect(receipt.status).toBe("success");
  });

  test("batches", async () => {
    const client = createPublicClient({ transport: transport({ batch: true }) });
    const answers = await Promise.all([
      client.getChainId(),
      client.getBlockNumber(),
      client.getBalance({ address: bob.address }),
    ]);
    expect(answers[0]).toBe(foundry.id);
    expect(answers[2]).toBeGreaterThan(0n);
  });

  test.each(["eth_accounts", "personal_listAccounts", "eth_newBlockFilter"])(
    "asks once for %s, which is refused for good",
    async (method) => {
      let sent = 0;
      const onFetchRequest = () => {
        sent++;
      };
      const client = createPublicClient({ transport: transport({ onFetchRequest }) });
      const request = client.request({ method: method as "eth_blockNumber" });
      await expect(request).rejects.toMatchObject({ code: -32_601 });
      expect(sent).toBe(1);
    },
  );

  test("asks once where the chain is unknown", async () => {
    let sent = 0;
    const onFetchRequest = () => {
      sent++;
    };
    const options = { fetchOptions: { headers: headers() }, onFetchRequest };
    const client = createPublicClient({ transport: http(proxy.url(999_999), options) });
    await expect(client.getBlockNumber()).rejects.toThrow("Invalid Request");
    expect(sent).toBe(1);
  });
});

describe("ethers", () => {
  test("reads, sends, waits and follows events without filters", async () => {
    const request = new FetchRequest(proxy.url(foundry.id));
    request.setHeader("x-api-key", proxy.secret);
    const provider = new JsonRpcProvider(request, foundry.id, { staticNetwork: true });
    provider.pollingInterval = 20;
    const wallet = new Wallet(alice.privateKey, provider);
    const sent = await wallet.sendTransaction({ to: bob.address, value: 1n });
    expect((await sent.wait())?.status).toBe(1);
    expect(await provider.getBlockNumber()).toBeGreaterThan(0);
    await expect(provider.call({ data: "0x60006000fd" })).rejects.toMatchObject({
      code: "CALL_EXCEPTION",
    });
    provider.destroy();
  });
});

describe("web3", () => {
  test("reads and sends", async () => {
    const provider = new HttpProvider(proxy.url(foundry.id), {
      providerOptions: { headers: headers() },
    });
    const web3 = new Web3(provider);
    expect(await web3.eth.getChainId()).toBe(BigInt(foundry.id));
    web3.eth.accounts.wallet.add(alice.privateKey);
    const receipt = await web3.eth.sendTransaction({
      from: alice.address,
      to: bob.address,
      value: 1,
      gas: 21_000,
    });
    expect(receipt.status).toBe(1n);
  });
});
