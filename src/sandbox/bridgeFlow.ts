import type { ApiClient } from "./apiClient.ts";
import type { SandboxInfo } from "./info.ts";
import type { Report } from "./swapFlow.ts";

const FROM_CHAIN_ID = 5042002;
const TO_CHAIN_ID = 84532;
const AMOUNT = "10.00";
const AMOUNT_ATOMIC = 10_000_000n;
const TIMEOUT_MS = 60_000;
const POLL_MS = 200;

interface Started {
  readonly transactionHash: string;
  readonly status: string;
  readonly estimatedTime: string;
}

interface Status {
  readonly status: string;
  readonly fee: string;
  readonly destinationTransactionHash: string | null;
}

/**
 * Bridges 10 USDC from Arc's testnet to Base's as a developer would: start, follow the status until
 * completed, look at the recipient's balance.
 * @throws Error naming the first step that did not hold
 */
export async function walkBridge(api: ApiClient, info: SandboxInfo, report: Report): Promise<void> {
  const recipient = info.wallets.at(-1);
  if (!recipient) throw new Error("the sandbox has no wallets");
  const before = await usdcBalance(api, info, recipient.address);
  const started = (await api.post("/bridge", {
    fromChainId: FROM_CHAIN_ID,
    toChainId: TO_CHAIN_ID,
    amount: AMOUNT,
    token: "USDC",
    recipientAddress: recipient.address,
  })) as Started;
  const route = `${info.chains[FROM_CHAIN_ID]?.name} to ${info.chains[TO_CHAIN_ID]?.name}`;
  report("bridge", `${AMOUNT} USDC from ${route}: ${started.transactionHash}`);
  report("bridge status", `${started.status}; usually takes ${started.estimatedTime}`);

  const done = await untilCompleted(api, started.transactionHash, report);
  const gained = (await usdcBalance(api, info, recipient.address)) - before;
  if (gained < AMOUNT_ATOMIC) throw new Error(`the recipient got ${gained}, not ${AMOUNT_ATOMIC}`);
  const mint = done.destinationTransactionHash;
  report("bridge completed", `minted in ${mint}; ${done.fee} USDC of fees on top`);
}

async function untilCompleted(api: ApiClient, hash: string, report: Report): Promise<Status> {
  const deadline = performance.now() + TIMEOUT_MS;
  let shown = "pending";
  for (;;) {
    const { data } = (await api.get(`/bridge/${hash}`)) as { data: Status };
    if (data.status !== shown) report("bridge status", (shown = data.status));
    if (data.status === "completed") return data;
    if (data.status === "failed" || performance.now() > deadline) {
      throw new Error(`the bridge transfer is ${data.status}`);
    }
    await Bun.sleep(POLL_MS);
  }
}

/** Atomic USDC; the balance query answers with all fractional digits. */
async function usdcBalance(api: ApiClient, info: SandboxInfo, address: string): Promise<bigint> {
  const chain = info.chains[TO_CHAIN_ID];
  const body = {
    address,
    chainId: chain?.name,
    rpcUrl: chain?.rpcUrl,
    tokenAddress: chain?.tokens["USDC"],
  };
  const { balance } = (await api.post("/wallet/balance", body)) as { balance: string };
  return BigInt(balance.replace(".", ""));
}
