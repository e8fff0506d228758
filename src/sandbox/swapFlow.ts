import { formatUnits, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Wallet } from "./accounts.ts";
import type { ApiClient } from "./apiClient.ts";
import type { SandboxInfo } from "./info.ts";

/** Told what a step did. */
export type Report = (step: string, result: string) => void;

const CHAIN_ID = 5042;
const INPUT_ATOMIC = 1_000_000_000n;
const EURC_DECIMALS = 18;
const RECEIPT_TIMEOUT_MS = 30_000;
const RECEIPT_POLL_MS = 100;

interface Quote {
  readonly outputAmount: string;
  readonly minOut: string;
  readonly dexName: string;
  readonly blockNumber: number | string;
  readonly route: { readonly type: string };
}

interface UnsignedTransaction {
  readonly to: Hex;
  readonly data: Hex;
  readonly value?: string;
  readonly gasLimit: string;
}

interface Built {
  readonly resetApproval?: UnsignedTransaction;
  readonly approval: UnsignedTransaction | null;
  readonly swap: UnsignedTransaction;
}

interface Block {
  readonly baseFeePerGas: Hex;
  readonly transactions: readonly Hex[];
}

interface Receipt {
  readonly status: Hex;
  readonly blockNumber: Hex;
  readonly gasUsed: Hex;
}

/**
 * Sells 1,000 USDC for EURC as a developer would: price, quote, build-tx, sign, broadcast through
 * the RPC proxy, receipt, new balance.
 * @throws Error naming the first step that did not hold
 */
export async function walkSwap(api: ApiClient, info: SandboxInfo, report: Report): Promise<void> {
  const wallet = info.wallets[0];
  if (!wallet) throw new Error("the sandbox has no wallets");
  const prices = (await api.get("/prices")) as { EURC: { usd: number } };
  report("price", `EURC is ${prices.EURC.usd} USD`);

  const before = await eurcBalance(api, info, wallet);
  report("balance", `${before} EURC`);
  const quote = await getQuote(api);
  report(
    "quote",
    `1000 USDC gives ${formatUnits(BigInt(quote.outputAmount), EURC_DECIMALS)} EURC ` +
      `(${quote.route.type}, ${quote.dexName})`,
  );
  const built = await buildTransactions(api, quote, wallet);
  report("build-tx", built.approval ? "approval and swap" : "swap; the allowance is there already");

  const sent: Hex[] = [];
  const send = async (name: string, transaction: UnsignedTransaction): Promise<Receipt> => {
    const hash = await signAndBroadcast(api, wallet, transaction);
    sent.push(hash);
    report(`broadcast ${name}`, hash);
    const receipt = await waitForReceipt(api, hash);
    if (receipt.status !== "0x1") throw new Error(`the ${name} reverted`);
    report(
      `receipt of ${name}`,
      `block ${Number(receipt.blockNumber)}, ${Number(receipt.gasUsed)} gas`,
    );
    return receipt;
  };
  if (built.resetApproval) await send("approval reset", built.resetApproval);
  if (built.approval) await send("approval", built.approval);
  const receipt = await send("swap", built.swap);

  const after = await eurcBalance(api, info, wallet);
  const gained = toAtomic(after) - toAtomic(before);
  const alone = await nobodyElseTraded(api, Number(quote.blockNumber), receipt, sent);
  checkGain(gained, quote, alone);
  report("new balance", `${after} EURC, ${formatUnits(gained, EURC_DECIMALS)} more`);
  report("check", alone ? "exactly as quoted" : "at least minOut; others traded in between");
}

function checkGain(gained: bigint, quote: Quote, alone: boolean): void {
  if (gained < BigInt(quote.minOut)) {
    throw new Error(`received ${gained}, less than minOut ${quote.minOut}`);
  }
  if (alone && gained !== BigInt(quote.outputAmount)) {
    throw new Error(`received ${gained}, not the quoted ${quote.outputAmount}`);
  }
}

async function getQuote(api: ApiClient): Promise<Quote> {
  const body = { inputToken: "USDC", outputToken: "EURC", inputAmount: String(INPUT_ATOMIC) };
  return dataOf<Quote>(await api.post("/swap/quote", { ...body, chainId: CHAIN_ID }));
}

async function buildTransactions(api: ApiClient, quote: Quote, wallet: Wallet): Promise<Built> {
  const body = { quote, userAddress: wallet.address };
  return dataOf<Built>(await api.post("/swap/build-tx", body));
}

function dataOf<Data>(body: unknown): Data {
  return (body as { data: Data }).data;
}

async function eurcBalance(api: ApiClient, info: SandboxInfo, wallet: Wallet): Promise<string> {
  const chain = info.chains[CHAIN_ID];
  const body = {
    address: wallet.address,
    chainId: chain?.name,
    rpcUrl: chain?.rpcUrl,
    tokenAddress: chain?.tokens["EURC"],
  };
  const { balance } = (await api.post("/wallet/balance", body)) as { balance: string };
  return balance;
}

/** The balance query answers with all fractional digits. */
function toAtomic(balance: string): bigint {
  return BigInt(balance.replace(".", ""));
}

async function signAndBroadcast(
  api: ApiClient,
  wallet: Wallet,
  transaction: UnsignedTransaction,
): Promise<Hex> {
  const nonce = await api.rpc(CHAIN_ID, "eth_getTransactionCount", [wallet.address, "latest"]);
  const block = (await api.rpc(CHAIN_ID, "eth_getBlockByNumber", ["latest", false])) as Block;
  const tip = 1_000_000_000n;
  const signed = await privateKeyToAccount(wallet.privateKey).signTransaction({
    type: "eip1559",
    chainId: CHAIN_ID,
    nonce: Number(nonce),
    to: transaction.to,
    data: transaction.data,
    value: BigInt(transaction.value ?? "0"),
    gas: BigInt(transaction.gasLimit),
    maxPriorityFeePerGas: tip,
    maxFeePerGas: 2n * BigInt(block.baseFeePerGas) + tip,
  });
  return (await api.rpc(CHAIN_ID, "eth_sendRawTransaction", [signed])) as Hex;
}

async function waitForReceipt(api: ApiClient, hash: Hex): Promise<Receipt> {
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS;
  for (;;) {
    const receipt = await api.rpc(CHAIN_ID, "eth_getTransactionReceipt", [hash]);
    if (receipt) return receipt as Receipt;
    if (performance.now() > deadline) throw new Error(`${hash} was not mined`);
    await Bun.sleep(RECEIPT_POLL_MS);
  }
}

/** Whether the blocks from the quote's to the swap's hold no transactions but ours. */
async function nobodyElseTraded(
  api: ApiClient,
  quotedBlock: number,
  { blockNumber }: Receipt,
  sent: readonly Hex[],
): Promise<boolean> {
  for (let number = quotedBlock + 1; number <= Number(blockNumber); number++) {
    const params = [`0x${number.toString(16)}`, false];
    const block = (await api.rpc(CHAIN_ID, "eth_getBlockByNumber", params)) as Block;
    if (block.transactions.some((hash) => !sent.includes(hash))) return false;
  }
  return true;
}
