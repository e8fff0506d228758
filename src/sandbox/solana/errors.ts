import type { FailedTransactionMetadata } from "litesvm";

/** A JSON-RPC error as a Solana node sends it. */
export class RpcError extends Error {
  override readonly name = "RpcError";

  /** @param code - of the JSON-RPC specification, or of Solana's own list */
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** Codes of Solana's nodes (agave, rpc-client-api `custom_error`), besides those of JSON-RPC. */
export const rpcCodes = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  preflightFailure: -32_002,
  signatureVerification: -32_003,
  unsupportedVersion: -32_015,
  minContextSlot: -32_016,
} as const;

/** A refusal of the parameters. */
export function invalidParams(message: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, message);
}

/** A transaction error in the form nodes write it in: a name, or a name with its detail. */
export type TransactionErrorJson = string | Readonly<Record<string, unknown>>;

/** In the order of the VM's numbers. */
const transactionErrors =
  "AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled".split(
    " ",
  );
const instructionErrors =
  "GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded BuiltinProgramsMustConsumeComputeUnits BorshIoError".split(
    " ",
  );

/** The VM's error as a node writes it. */
export function errorJson(failed: FailedTransactionMetadata): TransactionErrorJson {
  const error = failed.err();
  if (typeof error === "number") return transactionErrors[error] ?? "SanitizeFailure";
  if ("err" in error) {
    const inner = error.err();
    if (typeof inner === "number") {
      return { InstructionError: [error.index, instructionErrors[inner] ?? "GenericError"] };
    }
    return {
      InstructionError: [error.index, "code" in inner ? { Custom: inner.code } : inner.msg],
    };
  }
  if ("accountIndex" in error) {
    return { InsufficientFundsForRent: { account_index: error.accountIndex } };
  }
  return { DuplicateInstruction: error.index };
}

/** What nodes say of the errors a caller meets; the others are called by their names. */
const sentences: Readonly<Record<string, string>> = {
  AccountNotFound: "Attempt to debit an account but found no record of a prior credit.",
  AlreadyProcessed: "This transaction has already been processed",
  BlockhashNotFound: "Blockhash not found",
  InsufficientFundsForFee: "Insufficient funds for fee",
  InvalidAccountForFee: "This account may not be used to pay transaction fees",
  ProgramAccountNotFound: "Attempt to load a program that does not exist",
  SignatureFailure: "Transaction did not pass signature verification",
};

/** The error as a sentence. */
export function describeError(error: TransactionErrorJson): string {
  if (typeof error === "string") return sentences[error] ?? error;
  const failure = error["InstructionError"];
  if (!Array.isArray(failure)) return Object.keys(error).join();
  const [index, detail] = failure as [number, string | { Custom: number }];
  const said =
    typeof detail === "string" ? detail : `custom program error: 0x${detail.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${said}`;
}
