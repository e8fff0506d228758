import { encodeFunctionData, type Hex, keccak256, stringToHex, toHex } from "viem";
import { testMessageTransmitterV2Abi } from "../contracts/abi/testMessageTransmitterV2.ts";
import type { NodeRpc } from "../rpc.ts";
import { cctpAccounts } from "./accounts.ts";
import { type Mood, phaseOf } from "./moods.ts";
import { attest, forge, hookDataOf, readField, readNumber, withFields } from "./sourceMessage.ts";

/** A network the service attests for. */
export interface AttestedChain {
  readonly chainId: number;
  readonly domain: number;
  /** The messages a transaction sent, as its logs have them, in their order; none: not in a block. */
  messagesOf(transactionHash: string): Promise<readonly Hex[]>;
  head(): Promise<number>;
  /** Delivers a message; gives the transaction's hash. */
  mint(minter: "forwarder" | "stranger", message: Hex, attestation: Hex): Promise<string>;
  /** Whether that delivery is in a block. */
  isMinted(hash: string): Promise<boolean>;
}

/** One message and what was done about it so far. */
interface Entry {
  readonly source: Hex;
  readonly nonce: Hex;
  message: Hex | undefined;
  attestation: Hex | undefined;
  mintHash: string | undefined;
}

interface Transaction {
  readonly mood: Mood;
  polls: number;
  readonly entries: readonly Entry[];
}

/** What a poll of a transaction is answered with. */
export type PollAnswer =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: number; readonly text: string };

const MAX_TRANSACTIONS = 20_000;
const FAST_MICRO_BPS = 1_300_000n;
/** Blocks a fast attestation holds. */
const FAST_LIFETIME_BLOCKS = 100_000;
const MAGIC = stringToHex("cctp-forward");

/** The messages of one environment's networks. */
export function createLedger(chains: readonly AttestedChain[]) {
  const byDomain = new Map(chains.map((chain) => [chain.domain, chain]));
  const transactions = new Map<string, Transaction>();

  async function find(chain: AttestedChain, hash: string, mood: Mood) {
    const key = `${chain.domain}:${hash.toLowerCase()}`;
    const known = transactions.get(key);
    if (known) return known;
    const sources = await chain.messagesOf(hash);
    const raced = transactions.get(key);
    if (raced || sources.length === 0) return raced;
    const entries = sources.map((source, index) => ({
      source,
      nonce: keccak256(stringToHex(`${key}:${index}`)),
      message: undefined,
      attestation: undefined,
      mintHash: undefined,
    }));
    const transaction: Transaction = { mood, polls: 0, entries };
    const oldest = transactions.keys().next();
    if (transactions.size >= MAX_TRANSACTIONS && !oldest.done) transactions.delete(oldest.value);
    transactions.set(key, transaction);
    return transaction;
  }

  async function sign(entry: Entry, mood: Mood, renewed: boolean): Promise<void> {
    const destination = byDomain.get(readNumber(entry.source, "destinationDomain"));
    const message = await attestedMessage(entry, mood, destination, renewed);
    entry.message = message;
    entry.attestation = await attest(message);
  }

  async function forwardPart(entry: Entry, mood: Mood): Promise<Record<string, unknown>> {
    const { message, attestation } = entry;
    if (!message || !attestation || !isForward(message)) return {};
    const kind = mood.forward ?? "mints";
    if (kind === "never") return { forwardState: "PENDING" };
    if (kind === "fails" || kind === "underpaid") return { forwardState: "FAILED" };
    const destination = byDomain.get(readNumber(message, "destinationDomain"));
    if (!destination) return { forwardState: "FAILED" };
    const minter = kind === "front-run" ? "stranger" : "forwarder";
    try {
      entry.mintHash ??= await destination.mint(minter, message, attestation);
    } catch {
      // The network refused it, as one that has expired.
      return { forwardState: "FAILED" };
    }
    if (kind === "front-run") return { forwardState: "FAILED" };
    const isDone = await destination.isMinted(entry.mintHash);
    return { forwardState: isDone ? "COMPLETE" : "CONFIRMED", forwardTxHash: entry.mintHash };
  }

  async function describe(entry: Entry, mood: Mood, phase: "pending" | "forged" | "complete") {
    const delayReason = phase === "pending" ? (mood.delayReason ?? null) : null;
    if (phase === "pending") {
      return { ...pendingBody(entry, "pending_confirmations"), delayReason };
    }
    if (!entry.message) await sign(entry, mood, false);
    if (phase === "forged") {
      const message = forge(entry.message ?? "0x", mood.forgedField ?? "amount");
      return { ...completeBody(entry, message, await attest(message)), delayReason };
    }
    return {
      ...completeBody(entry, entry.message ?? "0x", entry.attestation ?? "0x"),
      delayReason,
      ...(await forwardPart(entry, mood)),
    };
  }

  return {
    /** Answers one poll. `mood` counts when the transaction is heard of for the first time. */
    async poll(domain: number, hash: string, mood: Mood): Promise<PollAnswer> {
      const chain = byDomain.get(domain);
      const transaction = chain && (await find(chain, hash, mood));
      if (!transaction) return notFound();
      const phase = phaseOf(transaction.mood, transaction.polls++);
      if (phase === "unseen") return notFound();
      if (phase === "empty") return { status: 200, body: { messages: [] } };
      if (phase === "failing") {
        return { status: transaction.mood.failingStatus ?? 503, body: { message: "unavailable" } };
      }
      if (phase === "malformed") return { status: 200, text: '{"messages":[{"status":"compl' };
      const messages = await Promise.all(
        transaction.entries.map((entry) => describe(entry, transaction.mood, phase)),
      );
      return { status: 200, body: { messages } };
    },
    /** Signs an expired message anew. */
    async reattest(nonce: string): Promise<PollAnswer> {
      for (const { entries, mood } of transactions.values()) {
        const entry = entries.find((each) => each.nonce === nonce.toLowerCase());
        if (!entry?.message) continue;
        if (BigInt(readField(entry.message, "expirationBlock")) === 0n) {
          const error = "Message is already finalized.";
          return { status: 400, body: { message: "Cannot re-attest requested message.", error } };
        }
        await sign(entry, mood, true);
        const message = "Re-attestation successfully requested for nonce.";
        return { status: 200, body: { message, nonce } };
      }
      return { status: 404, body: { message: "Nonce not found" } };
    },
  };
}

/** Fills in what only the service knows. */
async function attestedMessage(
  { source, nonce }: Entry,
  mood: Mood,
  destination: AttestedChain | undefined,
  renewed: boolean,
): Promise<Hex> {
  const isFast = readNumber(source, "minFinalityThreshold") <= 1_000 && !mood.delayReason;
  const maxFee = BigInt(readField(source, "maxFee"));
  const amount = BigInt(readField(source, "amount"));
  const fastFee = isFast ? (amount * FAST_MICRO_BPS + 9_999_999_999n) / 10_000_000_000n : 0n;
  const wanted = isForward(source) ? (mood.forward === "underpaid" ? 0n : maxFee) : fastFee;
  const head = (await destination?.head()) ?? 0;
  const expiration = mood.expired ? 1 : isFast ? head + FAST_LIFETIME_BLOCKS : 0;
  return withFields(source, {
    nonce,
    finalityThresholdExecuted: isFast ? 1_000n : 2_000n,
    feeExecuted: wanted < maxFee ? wanted : maxFee,
    expirationBlock: renewed ? 0n : BigInt(expiration),
  });
}

function isForward(message: Hex): boolean {
  return hookDataOf(message).startsWith(MAGIC);
}

function notFound(): PollAnswer {
  return { status: 404, body: { code: 404, message: "Message hash not found" } };
}

function pendingBody({ nonce }: Entry, status: string) {
  return { attestation: "PENDING", message: null, eventNonce: nonce, cctpVersion: 2, status };
}

function completeBody({ nonce }: Entry, message: Hex, attestation: Hex) {
  const decodedMessage = {
    sourceDomain: String(readNumber(message, "sourceDomain")),
    destinationDomain: String(readNumber(message, "destinationDomain")),
    nonce,
    sender: readField(message, "sender"),
    recipient: readField(message, "recipient"),
    destinationCaller: readField(message, "destinationCaller"),
    minFinalityThreshold: String(readNumber(message, "minFinalityThreshold")),
    finalityThresholdExecuted: String(readNumber(message, "finalityThresholdExecuted")),
    messageBody: `0x${message.slice(2 + 2 * 148)}`,
    decodedMessageBody: {
      burnToken: readField(message, "burnToken"),
      mintRecipient: readField(message, "mintRecipient"),
      amount: BigInt(readField(message, "amount")).toString(),
      messageSender: readField(message, "messageSender"),
      maxFee: BigInt(readField(message, "maxFee")).toString(),
      feeExecuted: BigInt(readField(message, "feeExecuted")).toString(),
      expirationBlock: BigInt(readField(message, "expirationBlock")).toString(),
      hookData: hookDataOf(message),
    },
  };
  const whole = { message, attestation, eventNonce: nonce, cctpVersion: 2, status: "complete" };
  return { ...whole, decodedMessage };
}

/** keccak256 of `MessageSent(bytes)`. */
const MESSAGE_SENT = keccak256(stringToHex("MessageSent(bytes)"));

/** An EVM network the service attests for. */
export function attestedEvmChain(
  rpc: NodeRpc,
  chainId: number,
  { domain, messageTransmitter }: { domain: number; messageTransmitter: Hex },
): AttestedChain {
  const receipt = async (hash: string) =>
    (await rpc.call("eth_getTransactionReceipt", [hash])) as {
      status: Hex;
      logs: readonly { address: string; topics: readonly string[]; data: Hex }[];
    } | null;
  return {
    chainId,
    domain,
    async messagesOf(hash) {
      if (!/^0x[0-9a-fA-F]{64}$/.test(hash)) return [];
      const { logs = [] } = (await receipt(hash)) ?? {};
      return logs
        .filter(({ address, topics }) => {
          const isOurs = address.toLowerCase() === messageTransmitter.toLowerCase();
          return isOurs && topics[0] === MESSAGE_SENT;
        })
        .map(({ data }) => bytesOf(data));
    },
    head: async () => Number(await rpc.call("eth_blockNumber")),
    async mint(minter, message, attestation) {
      const data = encodeFunctionData({
        abi: testMessageTransmitterV2Abi,
        functionName: "receiveMessage",
        args: [message, attestation],
      });
      const from = cctpAccounts()[minter].address;
      const transaction = { from, to: messageTransmitter, data, gas: toHex(500_000) };
      return (await rpc.call("eth_sendTransaction", [transaction])) as string;
    },
    isMinted: async (hash) => (await receipt(hash))?.status === "0x1",
  };
}

/** The one `bytes` member of a log's data (ABI: offset, length, bytes). */
function bytesOf(data: Hex): Hex {
  const length = Number(`0x${data.slice(2 + 64, 2 + 128)}`);
  return `0x${data.slice(2 + 128, 2 + 128 + 2 * length)}`;
}
