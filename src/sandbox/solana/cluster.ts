import {
  type Address,
  type EncodedAccount,
  getTransactionEncoder,
  type Signature,
  type Transaction,
} from "@solana/kit";
import {
  Clock,
  FailedTransactionMetadata,
  LiteSVM,
  type SimulatedTransactionInfo,
  type TransactionMetadata,
} from "litesvm";
import { errorJson, type TransactionErrorJson } from "./errors.ts";
import { type LoadedAddresses, loadedAddresses, tablesOf } from "./lookupTables.ts";
import { Slots } from "./slots.ts";
import type { Staged, StandIn } from "./standIn.ts";
import { decodeMint, decodeTokenAccount } from "./tokenLayout.ts";
import { compiledOf, signatureOf } from "./wire.ts";

/** A token amount an account held before or after a transaction. */
export interface HeldToken {
  readonly accountIndex: number;
  readonly mint: Address;
  readonly owner: Address;
  readonly programId: Address;
  readonly amountAtomic: bigint;
  readonly decimals: number;
}

/** Balances of a transaction's accounts, in the order of its keys. */
export interface Holdings {
  readonly lamports: readonly bigint[];
  readonly tokens: readonly HeldToken[];
}

/** A transaction that is part of the ledger, successful or not. */
export interface Landed {
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly transaction: Transaction;
  readonly bytes: Uint8Array;
  readonly error: TransactionErrorJson | null;
  readonly meta: TransactionMetadata;
  readonly feeLamports: bigint;
  readonly loaded: LoadedAddresses;
  readonly before: Holdings;
  readonly after: Holdings;
}

/** What came of running a transaction. */
export interface RunResult {
  readonly error: TransactionErrorJson | null;
  readonly meta: TransactionMetadata | undefined;
  readonly logs: readonly string[];
  /** Accounts after a simulation. */
  readonly postAccounts: readonly EncodedAccount[];
}

/** Transactions remembered. */
const KEPT_TRANSACTIONS = 20_000;
const SLOTS_PER_EPOCH = 432_000n;

/** A Solana ledger in memory: LiteSVM with passing slots, expiring blockhashes and a history. */
export class Cluster {
  readonly slots = new Slots();
  /** Programs the VM has no code of. */
  readonly standIns = new Map<Address, StandIn>();
  readonly #vm = new LiteSVM()
    .withBlockhashCheck(false)
    .withTransactionHistory(BigInt(KEPT_TRANSACTIONS));
  readonly #landed = new Map<string, Landed>();

  account(address: Address): EncodedAccount | undefined {
    const account = this.#vm.getAccount(address);
    return account.exists && account.lamports > 0n ? account : undefined;
  }

  accountsOf(program: Address): EncodedAccount[] {
    return this.#vm.getProgramAccounts(program).filter(({ lamports }) => lamports > 0n);
  }

  /** Puts an account in place without a transaction. */
  setAccount(account: EncodedAccount): void {
    this.#vm.setAccount(account);
  }

  rentFor(dataBytes: bigint): bigint {
    return this.#vm.minimumBalanceForRentExemption(dataBytes);
  }

  decimalsOf(mint: Address): number | undefined {
    const account = this.account(mint);
    return account && decodeMint(account.data)?.decimals;
  }

  landed(signature: string): Landed | undefined {
    return this.#landed.get(signature);
  }

  /** Transactions that name an account, the oldest first, by their signature. */
  landedNaming(account: Address): [string, Landed][] {
    return [...this.#landed].filter(([, { transaction, loaded }]) => {
      const { staticAccounts } = compiledOf(transaction);
      return [staticAccounts, loaded.writable, loaded.readonly].some((keys) =>
        keys.includes(account),
      );
    });
  }

  /**
   * Runs a transaction and changes nothing.
   * @param staged - what the VM is to run in its place, its signatures checked before
   */
  simulate(
    transaction: Transaction,
    options: { readonly verify: boolean; readonly anyBlockhash: boolean },
    staged?: Staged,
  ): RunResult {
    this.#passTime();
    if (this.#landed.has(signatureOf(transaction))) return refused("AlreadyProcessed");
    if (!options.anyBlockhash && !this.#isTimely(transaction)) return refused("BlockhashNotFound");
    this.#vm.withSigverify(options.verify && !staged);
    try {
      return resultOf(this.#vm.simulateTransaction(staged?.transaction ?? transaction));
    } finally {
      this.#vm.withSigverify(true);
    }
  }

  /**
   * Runs a transaction for good. What fails before it pays its fee leaves no trace.
   * @param staged - what the VM is to run in its place, its signatures checked before
   * @returns the error it landed or was dropped with, null when it succeeded
   */
  send(transaction: Transaction, staged?: Staged): TransactionErrorJson | null {
    this.#passTime();
    const signature = signatureOf(transaction);
    if (this.#landed.has(signature)) return "AlreadyProcessed";
    if (!this.#isTimely(transaction)) return "BlockhashNotFound";
    const compiled = compiledOf(transaction);
    const tables = tablesOf(compiled, (table) => this.account(table)?.data);
    const loaded = loadedAddresses(compiled, tables);
    const keys = [...compiled.staticAccounts, ...loaded.writable, ...loaded.readonly];
    const before = this.#holdings(keys);
    const result = this.#run(transaction, staged);
    const failed = result instanceof FailedTransactionMetadata;
    if (!failed) staged?.commit(this);
    const error = failed ? errorJson(result) : null;
    const after = this.#holdings(keys);
    const paid = after.lamports[0] !== before.lamports[0];
    if (failed && !paid) return error;
    const meta = failed ? result.meta() : result;
    this.#remember(signature, {
      slot: this.slots.current("processed"),
      blockTime: Math.floor(Date.now() / 1_000),
      transaction,
      bytes: Uint8Array.from(getTransactionEncoder().encode(transaction)),
      error,
      meta,
      feeLamports: feeOf(meta),
      loaded,
      before,
      after,
    });
    return error;
  }

  #run(transaction: Transaction, staged: Staged | undefined) {
    if (!staged) return this.#vm.sendTransaction(transaction);
    this.#vm.withSigverify(false);
    try {
      return this.#vm.sendTransaction(staged.transaction);
    } finally {
      this.#vm.withSigverify(true);
    }
  }

  #isTimely(transaction: Transaction): boolean {
    return this.slots.isValidBlockhash(compiledOf(transaction).lifetimeToken);
  }

  #passTime(): void {
    const slot = this.slots.current("processed");
    const epoch = slot / SLOTS_PER_EPOCH;
    const seconds = BigInt(Math.floor(Date.now() / 1_000));
    this.#vm.setClock(new Clock(slot, seconds, epoch, epoch + 1n, seconds));
  }

  #holdings(keys: readonly Address[]): Holdings {
    const accounts = keys.map((key) => this.account(key));
    const tokens = accounts.flatMap((account, accountIndex) => {
      const token = account && decodeTokenAccount(account.data);
      const decimals = token && this.decimalsOf(token.mint);
      if (!account || !token || decimals === undefined) return [];
      const { mint, owner, amount: amountAtomic } = token;
      const programId = account.programAddress;
      return [{ accountIndex, mint, owner, programId, amountAtomic, decimals }];
    });
    return { lamports: accounts.map((account) => account?.lamports ?? 0n), tokens };
  }

  #remember(signature: Signature, landed: Landed): void {
    this.#landed.set(signature, landed);
    const [oldest] = this.#landed.keys();
    if (oldest !== undefined && this.#landed.size > KEPT_TRANSACTIONS) this.#landed.delete(oldest);
  }
}

/** A run that ended before anything was run. */
export function refused(error: TransactionErrorJson, logs: readonly string[] = []): RunResult {
  return { error, meta: undefined, logs, postAccounts: [] };
}

function resultOf(result: SimulatedTransactionInfo | FailedTransactionMetadata): RunResult {
  const meta = result.meta();
  const ran = { meta, logs: meta.logs() };
  return result instanceof FailedTransactionMetadata
    ? { ...ran, error: errorJson(result), postAccounts: [] }
    : { ...ran, error: null, postAccounts: result.postAccounts() };
}

/** The VM tells the fee only in the text of its result. */
function feeOf(meta: TransactionMetadata): bigint {
  return BigInt(/\bfee: (\d+)/.exec(meta.toString())?.[1] ?? 0);
}
