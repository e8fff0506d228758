import {
  type Address,
  compileTransaction,
  decompileTransactionMessage,
  getPublicKeyFromAddress,
  type Instruction,
  isSignerRole,
  isWritableRole,
  lamports,
  type Transaction,
  type TransactionMessage,
  type TransactionMessageWithBlockhashLifetime,
  type TransactionMessageWithFeePayer,
  verifySignature,
} from "@solana/kit";
import type { Cluster } from "./cluster.ts";
import type { TransactionErrorJson } from "./errors.ts";
import { tablesOf } from "./lookupTables.ts";
import { compiledOf } from "./wire.ts";

/**
 * Programs the VM has no code of. A stand-in checks what the program would check and says what it
 * would do: instructions of programs the VM has, which run in its place, and what accounts hold
 * afterwards. The rest of the transaction runs as it is, and all of it or nothing takes effect.
 */
export type StandIn = (invocation: Invocation, cluster: Cluster) => Promise<Effect>;

/** An instruction as a program gets it. */
export interface Invocation {
  readonly program: Address;
  readonly accounts: readonly {
    readonly address: Address;
    readonly isSigner: boolean;
    readonly isWritable: boolean;
  }[];
  readonly data: Uint8Array;
}

export interface Effect {
  readonly instructions: readonly Instruction[];
  /** Accounts that belong to a program once the instructions have run. */
  readonly owned?: readonly OwnedAccount[];
  /** Accounts that end, and who gets their lamports. */
  readonly closed?: readonly { readonly address: Address; readonly payee: Address }[];
}

/** An account and what a program keeps in it. */
export interface OwnedAccount {
  readonly address: Address;
  readonly program: Address;
  readonly data: Uint8Array;
}

/** A program's own refusal, which nodes show in the transaction's log. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
  /** @param errorName - what Anchor calls the error */
  constructor(
    readonly code: number,
    readonly errorName: string,
    message: string,
  ) {
    super(message);
  }

  /** The log line of Anchor's programs. */
  get log(): string {
    const { errorName, code, message } = this;
    return `Program log: AnchorError occurred. Error Code: ${errorName}. Error Number: ${code}. Error Message: ${message}.`;
  }
}

/** Why a transaction is not run. */
export interface Refusal {
  readonly error: TransactionErrorJson;
  readonly logs: readonly string[];
}

/** A transaction as the VM can run it. */
export interface Staged {
  readonly transaction: Transaction;
  /** Puts in place what the programs' accounts hold; to be called when it has run. */
  readonly commit: (cluster: Cluster) => void;
}

/**
 * Prepares a transaction that calls stand-ins.
 * @returns undefined when it calls none; the error when a program refuses or a signature is wrong
 */
export async function stage(
  cluster: Cluster,
  transaction: Transaction,
): Promise<Staged | Refusal | undefined> {
  const compiled = compiledOf(transaction);
  const isCalled = compiled.instructions.some(({ programAddressIndex }) =>
    cluster.standIns.has(compiled.staticAccounts[programAddressIndex] ?? ("" as Address)),
  );
  if (!isCalled) return undefined;
  if (!(await hasValidSignatures(transaction))) return { error: "SignatureFailure", logs: [] };
  const tables = tablesOf(compiled, (table) => cluster.account(table)?.data);
  const message = decompileTransactionMessage(compiled, { addressesByLookupTableAddress: tables });
  const instructions: Instruction[] = [];
  const effects: Effect[] = [];
  for (const [index, instruction] of (message.instructions as Instruction[]).entries()) {
    const program = cluster.standIns.get(instruction.programAddress);
    if (!program) {
      instructions.push(instruction);
      continue;
    }
    try {
      const effect = await program(invocationOf(instruction), cluster);
      instructions.push(...effect.instructions);
      effects.push(effect);
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      return { error: { InstructionError: [index, { Custom: error.code }] }, logs: [error.log] };
    }
  }
  return {
    transaction: recompile({ ...message, instructions } as RunnableMessage, transaction),
    commit: (after) => {
      for (const effect of effects) settle(after, effect);
    },
  };
}

function settle(cluster: Cluster, { owned = [], closed = [] }: Effect): void {
  const existing = (address: Address) => {
    const account = cluster.account(address);
    if (!account) throw new Error(`${address} does not exist`);
    return account;
  };
  for (const { program, address, data } of owned) {
    const space = BigInt(data.length);
    cluster.setAccount({ ...existing(address), programAddress: program, data, space });
  }
  for (const { address, payee } of closed) {
    const [account, paid] = [existing(address), existing(payee)];
    cluster.setAccount({ ...paid, lamports: lamports(paid.lamports + account.lamports) });
    const empty = { data: new Uint8Array(), space: 0n, lamports: lamports(0n) };
    cluster.setAccount({ ...account, ...empty });
  }
}

type RunnableMessage = TransactionMessage &
  TransactionMessageWithFeePayer &
  TransactionMessageWithBlockhashLifetime;

/** Keeps the first signature, which is the transaction's id; the VM is not asked to check any. */
function recompile(message: RunnableMessage, original: Transaction): Transaction {
  const compiled = compileTransaction(message);
  return { ...compiled, signatures: { ...compiled.signatures, ...first(original.signatures) } };
}

function first(signatures: Transaction["signatures"]): Transaction["signatures"] {
  return Object.fromEntries(Object.entries(signatures).slice(0, 1));
}

function invocationOf({ programAddress, accounts = [], data }: Instruction): Invocation {
  return {
    program: programAddress,
    accounts: accounts.map(({ address, role }) => ({
      address,
      isSigner: isSignerRole(role),
      isWritable: isWritableRole(role),
    })),
    data: Uint8Array.from(data ?? []),
  };
}

async function hasValidSignatures({ signatures, messageBytes }: Transaction): Promise<boolean> {
  const checks = Object.entries(signatures).map(async ([signer, signature]) => {
    if (!signature) return false;
    const key = await getPublicKeyFromAddress(signer as Address);
    return verifySignature(key, signature, messageBytes);
  });
  return (await Promise.all(checks)).every(Boolean);
}
