import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FetchRequest, JsonRpcProvider, Wallet } from "ethers";
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  erc20Abi,
  type Hex,
  http,
  type PublicClient,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { accounts } from "../support/sandbox.ts";
import { type Stack, startStack } from "./stack.ts";

/** The typical flow of the contract, with the clients developers use. */
let stack: Stack;
let key: string;
beforeAll(async () => {
  stack = await startStack();
  key = (await stack.service.key()).secret;
});
afterAll(() => stack.stop());

const wallet = accounts.wallets[0]!;
const chain = defineChain({
  id: 5042,
  name: "Arc",
  nativeCurrency: { name: "USDC", symbol: "USDC", decimals: 18 },
  rpcUrls: { default: { http: [] } },
});

/** viem's own http transport against the proxy, only the key added. */
const transport = () =>
  http(`${stack.service.base}/rpc/5042`, { fetchOptions: { headers: { "x-api-key": key } } });

interface Unsigned {
  readonly to: Hex;
  readonly data: Hex;
  readonly from: Hex;
  readonly gasLimit: string;
  readonly value?: string;
}

async function post(path: string, body: unknown) {
  const answer = await fetch(stack.service.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { data, ...rest } = (await answer.json()) as { data: unknown };
  expect([answer.status, rest]).toEqual([200, { success: true } as object]);
  return data;
}

const tokenAddress = (symbol: string) =>
  stack.chain.deployment.tokens.find((token) => token.symbol === symbol)!.address as Hex;

const balanceOf = (client: PublicClient, symbol: string) =>
  client.readContract({
    address: tokenAddress(symbol),
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [wallet.address],
  });

describe("quote → build-tx → sign → eth_sendRawTransaction through the proxy", () => {
  test.each([
    ["USDC", "EURC", "the best venue"],
    ["USDT", "EURC", "native-dex"],
    ["EURC", "USDC", "venue-a"],
    ["USDC", "USDT", "venue-b"],
  ])("%s to %s at %s: the wallet receives exactly outputAmount", async (from, to, dexId) => {
    const client = createPublicClient({ chain, transport: transport(), pollingInterval: 50 });
    const signer = createWalletClient({
      chain,
      account: privateKeyToAccount(wallet.privateKey),
      transport: transport(),
    });
    const before = await balanceOf(client, to);
    const inputAmount = from === "EURC" ? `25${"0".repeat(18)}` : "25000000";
    const quote = (await post("/swap/quote", {
      inputToken: from,
      outputToken: to,
      inputAmount,
      ...(dexId !== "the best venue" && { dexId }),
    })) as { outputAmount: string; minOut: string };
    const built = (await post("/swap/build-tx", { quote, userAddress: wallet.address })) as {
      approval: Unsigned | null;
      swap: Unsigned;
    };
    for (const step of [built.approval, built.swap]) {
      if (!step) continue;
      const hash = await signer.sendTransaction({
        to: step.to,
        data: step.data,
        value: BigInt(step.value ?? 0),
        gas: BigInt(step.gasLimit),
      });
      const receipt = await client.waitForTransactionReceipt({ hash });
      expect(receipt.status).toBe("success");
    }
    const gained = (await balanceOf(client, to)) - before;
    expect(gained).toBe(BigInt(quote.outputAmount));
    expect(gained).toBeGreaterThanOrEqual(BigInt(quote.minOut));
    const again = (await post("/swap/build-tx", {
      quote: await post("/swap/quote", { inputToken: from, outputToken: to, inputAmount }),
      userAddress: wallet.address,
    })) as { approval: Unsigned | null };
    expect(again.approval).not.toBeNull();
  });
});

describe("clients", () => {
  test("viem's public client works unchanged, with and without batching", async () => {
    for (const batch of [false, true]) {
      const client = createPublicClient({
        chain,
        transport: http(`${stack.service.base}/rpc/5042`, {
          batch,
          fetchOptions: { headers: { "x-api-key": key } },
        }),
      });
      const [id, block, gasPrice] = await Promise.all([
        client.getChainId(),
        client.getBlockNumber(),
        client.getGasPrice(),
      ]);
      expect(id).toBe(5042);
      expect(block).toBeGreaterThan(0n);
      expect(gasPrice).toBeGreaterThan(0n);
    }
  });

  test("ethers' JsonRpcProvider works unchanged, and sends a transaction", async () => {
    const request = new FetchRequest(`${stack.service.base}/rpc/5042`);
    request.setHeader("x-api-key", key);
    const provider = new JsonRpcProvider(request, undefined, { staticNetwork: false });
    try {
      expect((await provider.getNetwork()).chainId).toBe(5042n);
      const sender = new Wallet(accounts.wallets[1]!.privateKey, provider);
      const sent = await sender.sendTransaction({ to: wallet.address, value: 1n });
      expect((await sent.wait())?.status).toBe(1);
    } finally {
      provider.destroy();
    }
  });
});
