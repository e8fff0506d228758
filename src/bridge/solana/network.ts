import {
  type Address,
  address,
  type AddressesByLookupTableAddress,
  createKeyPairSignerFromBytes,
  generateKeyPairSigner,
  getBase64Encoder,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
} from "@solana/kit";
import type { BridgeStore, StoredTransaction } from "../../db/index.ts";
import { encodeBase58 } from "../../lib/base58.ts";
import { member } from "../../lib/exactJson.ts";
import type { Attested, BridgeNetwork, MintTrial, Transfer } from "../network.ts";
import { type CctpNetwork, solanaAddressOf } from "../words.ts";
import {
  associatedTokenAccount,
  messageTransmitterAccount,
  type SolanaCctp,
  tokenMessengerAccount,
  usedNonce,
} from "./addresses.ts";
import {
  burnInstruction,
  computeUnitLimitInstruction,
  createTokenAccountInstruction,
  receiveInstruction,
  reclaimInstruction,
} from "./instructions.ts";
import { type SolanaCall, SolanaRpcError } from "./rpc.ts";
import type { SolanaSender } from "./sender.ts";

/** Lamports the operator must have: rent of the message account and of a token account, and fees. */
const MIN_LAMPORTS = 10_000_000n;
/** A mint needs more than the default 200,000. */
const MINT_COMPUTE_UNITS = 400_000;
const CONFIRMED = { commitment: "confirmed" };
/**
 * Where the messenger's account keeps its fee recipient: after the discriminator, three keys, the
 * version (u32) and the bump (u8).
 */
const FEE_RECIPIENT_OFFSET = 8 + 3 * 32 + 4 + 1;
/** Bytes of a lookup table before its addresses. */
const LOOKUP_TABLE_HEADER_BYTES = 56;
const MAX_SIGNATURES = 20;
/** The transmitter keeps a burn's message for 5 days (its `EVENT_ACCOUNT_WINDOW_SECONDS`). */
const RECLAIM_AFTER_MS = 5 * 86_400_000 + 3_600_000;

export interface SolanaNetworkDependencies {
  readonly network: CctpNetwork;
  /** 64 bytes; undefined: this cluster is a destination for forwarded transfers only. */
  readonly secret: Uint8Array | undefined;
  readonly call: SolanaCall;
  readonly sender: SolanaSender;
  readonly store: Pick<BridgeStore, "transactions">;
}

/** A Solana cluster with CCTP V2. */
export function createSolanaNetwork(deps: SolanaNetworkDependencies): BridgeNetwork {
  const { network, secret, call, sender, store } = deps;
  const cctp: SolanaCctp = {
    messageTransmitter: address(network.messageTransmitter),
    tokenMessenger: address(network.tokenMessenger),
    usdc: address(network.usdc),
  };
  let made: Promise<KeyPairSigner> | undefined;
  const operator = (): Promise<KeyPairSigner> => {
    if (!secret) throw new Error("no operator key for Solana is configured");
    return (made ??= createKeyPairSignerFromBytes(secret));
  };

  async function accountData(at: Address): Promise<{ owner: string; data: Buffer } | undefined> {
    const options = { ...CONFIRMED, encoding: "base64" };
    const value = member(await call("getAccountInfo", [at, options]), "value");
    if (typeof value !== "object" || value === null) return undefined;
    const data = Buffer.from(String(member(value, "data", 0)), "base64");
    return { owner: String(member(value, "owner")), data };
  }

  async function mintInstructions(
    transfer: Pick<Transfer, "recipient">,
    attested: Attested,
  ): Promise<Instruction[]> {
    const payer = await operator();
    const { message, bytes, attestation } = attested;
    const { nonce, sourceDomain, body } = message;
    const owner = address(transfer.recipient);
    const terms = {
      bytes,
      attestation,
      nonce,
      sourceDomain,
      burnToken: body.burnToken,
      mintRecipient: body.mintRecipient,
      feeRecipientAccount: await feeRecipientAccount(),
    };
    const account = address(solanaAddressOf(body.mintRecipient));
    return [
      computeUnitLimitInstruction(MINT_COMPUTE_UNITS),
      createTokenAccountInstruction(payer, account, owner, cctp.usdc),
      await receiveInstruction(cctp, payer, terms),
    ];
  }

  /** Addresses a mint need not spell out; without them it does not fit a packet. */
  async function lookupTables(): Promise<AddressesByLookupTableAddress> {
    if (network.lookupTable === undefined) return {};
    const table = address(network.lookupTable);
    const { data } = (await accountData(table)) ?? { data: Buffer.alloc(0) };
    const count = Math.max(0, Math.floor((data.length - LOOKUP_TABLE_HEADER_BYTES) / 32));
    const at = (index: number) => LOOKUP_TABLE_HEADER_BYTES + 32 * index;
    const addresses = Array.from({ length: count }, (_, index) =>
      address(encodeBase58(data.subarray(at(index), at(index + 1)))),
    );
    return { [table]: addresses };
  }

  async function feeRecipientAccount(): Promise<Address> {
    const messenger = await accountData(await tokenMessengerAccount(cctp));
    const key = messenger?.data.subarray(FEE_RECIPIENT_OFFSET, FEE_RECIPIENT_OFFSET + 32);
    if (key?.length !== 32) throw new Error("the token messenger's account cannot be read");
    return associatedTokenAccount(address(encodeBase58(key)), cctp.usdc);
  }

  /** Whether a transaction succeeded, used the nonce's account and paid the recipient in full. */
  async function isMint(signature: string, nonceAccount: Address, attested: Attested) {
    const options = { ...CONFIRMED, encoding: "json", maxSupportedTransactionVersion: 0 };
    const found = await call("getTransaction", [signature, options]);
    const meta = member(found, "meta");
    if (typeof meta !== "object" || meta === null || member(meta, "err") !== null) return false;
    const keys = [
      ...texts(member(found, "transaction", "message", "accountKeys")),
      ...texts(member(meta, "loadedAddresses", "writable")),
      ...texts(member(meta, "loadedAddresses", "readonly")),
    ];
    if (!keys.includes(nonceAccount)) return false;
    const { body } = attested.message;
    const index = keys.indexOf(solanaAddressOf(body.mintRecipient));
    const held = (when: "preTokenBalances" | "postTokenBalances") =>
      tokenBalance(member(meta, when), index);
    const gained = held("postTokenBalances") - held("preTokenBalances");
    return gained === body.amount - body.feeExecuted;
  }

  async function signaturesOf(at: Address): Promise<string[]> {
    const options = { ...CONFIRMED, limit: MAX_SIGNATURES };
    const list = await call("getSignaturesForAddress", [at, options]);
    return Array.isArray(list) ? list.map((entry) => String(member(entry, "signature"))) : [];
  }

  return {
    chain: network.chain,
    broadcast: sender.broadcast,
    settle: sender.settle,
    head: async () => Number(await call("getSlot", [CONFIRMED])),

    async wallet() {
      const { address: owner } = await operator();
      const account = await associatedTokenAccount(owner, cctp.usdc);
      const [lamports, usdc] = await Promise.all([
        call("getBalance", [owner, CONFIRMED]),
        call("getTokenAccountBalance", [account, CONFIRMED]),
      ]);
      return {
        usdc: BigInt(String(member(usdc, "value", "amount"))),
        paysGas: BigInt(String(member(lamports, "value"))) >= MIN_LAMPORTS,
        refusal: undefined,
      };
    },

    acceptsPull: async () => false,
    signPull() {
      throw new Error("Solana has no EIP-3009");
    },

    async signBurn(transfer, destinationDomain): Promise<StoredTransaction[]> {
      const [owner, event] = await Promise.all([operator(), generateKeyPairSigner()]);
      const burn = await burnInstruction(cctp, owner, event, {
        amount: transfer.amount + transfer.maxFee,
        destinationDomain,
        mintRecipient: transfer.mintRecipient as `0x${string}`,
        maxFee: transfer.maxFee,
        minFinalityThreshold: transfer.minFinalityThreshold,
        hookData: transfer.hookData as `0x${string}`,
      });
      return [await sender.sign(transfer.id, "burn", owner, [burn])];
    },

    async messageIndex(_transfer, hash) {
      const options = { searchTransactionHistory: true };
      const statuses = await call("getSignatureStatuses", [[hash], options]);
      const status = member(statuses, "value", 0);
      const isThere = typeof status === "object" && status !== null;
      // One burn per transaction, and so one message.
      return isThere && member(status, "err") === null ? 0 : undefined;
    },

    async tryMint(transfer, attested): Promise<MintTrial> {
      if (!secret) return { kind: "refused", reason: "no operator key for Solana" };
      const [payer, instructions, tables] = await Promise.all([
        operator(),
        mintInstructions(transfer, attested),
        lookupTables(),
      ]);
      return judgeRefusal(await sender.simulate(payer, instructions, tables));
    },

    async signMint(transfer, attested) {
      const [payer, instructions, tables] = await Promise.all([
        operator(),
        mintInstructions(transfer, attested),
        lookupTables(),
      ]);
      return [await sender.sign(transfer.id, "mint", payer, instructions, tables)];
    },

    reclaimAfterMs: RECLAIM_AFTER_MS,

    async signReclaim(transfer, attested) {
      if (!secret) return [];
      const payee = await operator();
      const burn = (await store.transactions(transfer.id)).find(
        ({ hash }) => hash === transfer.burnHash,
      );
      const event = burn && eventAccountOf(burn, payee.address);
      if (!event || !(await accountData(event))) return [];
      const at = { event, transmitterState: await messageTransmitterAccount(cctp) };
      const instruction = reclaimInstruction(cctp, payee, at, attested);
      return [await sender.sign(transfer.id, "reclaim", payee, [instruction])];
    },

    async findMint(_transfer, attested, hint) {
      const nonceAccount = await usedNonce(cctp, attested.message.nonce);
      const used = await accountData(nonceAccount);
      // Anyone can send lamports to the address; only the program can own the account.
      if (used?.owner !== cctp.messageTransmitter) return undefined;
      if (hint && (await isMint(hint, nonceAccount, attested))) return hint;
      for (const signature of await signaturesOf(nonceAccount).catch(ignoreRefusal)) {
        if (await isMint(signature, nonceAccount, attested)) return signature;
      }
      return undefined;
    },
  };
}

/** The account a burn left its message in: the one that signed beside the operator. */
function eventAccountOf({ raw }: StoredTransaction, operator: Address): Address | undefined {
  const { signatures } = getTransactionDecoder().decode(getBase64Encoder().encode(raw));
  return (Object.keys(signatures) as Address[]).find((signer) => signer !== operator);
}

/** @param refusal - of a simulation, with the programs' log */
function judgeRefusal(refusal: string | undefined): MintTrial {
  if (refusal === undefined) return { kind: "ready" };
  if (/NonceAlreadyUsed|Nonce already used/.test(refusal)) return { kind: "used" };
  if (/MessageExpired|Message has expired/.test(refusal)) return { kind: "expired" };
  return { kind: "refused", reason: refusal.slice(0, 200) };
}

function texts(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

/** Nodes without an index of addresses refuse to look signatures up. */
function ignoreRefusal(error: unknown): string[] {
  if (error instanceof SolanaRpcError) return [];
  throw error;
}

function tokenBalance(balances: unknown, accountIndex: number): bigint {
  const entries = Array.isArray(balances) ? balances : [];
  const entry: unknown = entries.find(
    (each) => member(each, "accountIndex") === String(accountIndex),
  );
  return BigInt(String(member(entry, "uiTokenAmount", "amount") ?? "0"));
}
