import { concatBytes, numberToBytes } from "viem";
import { associatedTokenAddress } from "../../solana/genesis.ts";
import { solanaMints } from "../../solana/mints.ts";
import { ProgramError, type StandIn } from "../../solana/standIn.ts";
import { burnFrom, createAccount } from "./instructions.ts";
import { BorshReader, checkAccounts, type Place } from "./invocation.ts";
import {
  bytesOf,
  cctpPrograms,
  derived,
  discriminator,
  encodeMessageSent,
  remoteMessengerOf,
  SOLANA_DOMAIN,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "./programs.ts";

const PLAIN = discriminator("global:deposit_for_burn");
const WITH_HOOK = discriminator("global:deposit_for_burn_with_hook");
const ZERO_WORD = new Uint8Array(32);
const u32 = (value: number) => numberToBytes(value, { size: 4 });
const u256 = (value: bigint) => numberToBytes(value, { size: 32 });

/** What a burn's instruction says; amounts in atomic USDC. */
interface Burn {
  readonly amount: bigint;
  readonly destinationDomain: number;
  readonly mintRecipient: Uint8Array;
  readonly destinationCaller: Uint8Array;
  readonly maxFee: bigint;
  readonly minFinalityThreshold: number;
  readonly hookData: Uint8Array;
}

/**
 * Stand-in of TokenMessengerMinterV2, as much as burns need: its accounts, arguments and rules; the
 * tokens are burned by the token program itself, and the message is left in the event account.
 */
export const tokenMessengerStandIn: StandIn = async (invocation, cluster) => {
  const burn = readBurn(invocation.data);
  const [owner, payer, , from, , , , remote, , , , event] = invocation.accounts;
  if (!owner || !payer || !from || !remote || !event) {
    throw new ProgramError(3005, "AccountNotEnoughKeys", "Not enough account keys given");
  }
  const places: Place[] = [
    [undefined, "s"],
    [undefined, "ws"],
    [await derived.senderAuthority(), ""],
    [await associatedTokenAddress(owner.address, solanaMints.usdc, TOKEN_PROGRAM), "w"],
    [await derived.denylist(owner.address), ""],
    [await derived.transmitterState(), "w"],
    [await derived.messengerState(), ""],
    [await derived.remoteMessenger(burn.destinationDomain), ""],
    [await derived.minter(), ""],
    [await derived.localToken(), "w"],
    [solanaMints.usdc, "w"],
    [undefined, "ws"],
    [cctpPrograms.transmitter, ""],
    [cctpPrograms.messenger, ""],
    [TOKEN_PROGRAM, ""],
    [SYSTEM_PROGRAM, ""],
    [await derived.messengerEvents(), ""],
    [cctpPrograms.messenger, ""],
  ];
  checkAccounts(invocation, places);
  checkBurn(burn);
  const remoteAccount = cluster.account(remote.address);
  if (!remoteAccount) {
    throw new ProgramError(3012, "AccountNotInitialized", "No messenger is known for the domain");
  }
  const message = sourceMessage(
    burn,
    bytesOf(owner.address),
    remoteMessengerOf(remoteAccount.data),
  );
  const createdAt = BigInt(Math.floor(Date.now() / 1_000));
  const data = encodeMessageSent({ rentPayer: payer.address, createdAt, message });
  const space = BigInt(data.length);
  const { transmitter } = cctpPrograms;
  return {
    instructions: [
      createAccount(payer.address, event.address, transmitter, {
        lamports: cluster.rentFor(space),
        space,
      }),
      burnFrom(owner.address, from.address, burn.amount),
    ],
    owned: [{ address: event.address, program: transmitter, data }],
  };
};

function readBurn(data: Uint8Array): Burn {
  const reader = new BorshReader(data);
  const name = Buffer.from(reader.take(8));
  const hasHook = name.equals(WITH_HOOK);
  if (!hasHook && !name.equals(PLAIN)) {
    throw new ProgramError(
      101,
      "InstructionFallbackNotFound",
      "Fallback functions are not supported",
    );
  }
  return {
    amount: reader.u64(),
    destinationDomain: reader.u32(),
    mintRecipient: reader.take(32),
    destinationCaller: reader.take(32),
    maxFee: reader.u64(),
    minFinalityThreshold: reader.u32(),
    hookData: hasHook ? nonEmpty(reader.list()) : new Uint8Array(),
  };
}

function nonEmpty(hookData: Uint8Array): Uint8Array {
  if (hookData.length > 0) return hookData;
  throw new ProgramError(6013, "InvalidHookData", "Invalid hook data");
}

function checkBurn({ amount, maxFee, mintRecipient }: Burn): void {
  if (amount === 0n) throw new ProgramError(6006, "InvalidAmount", "Invalid amount");
  if (Buffer.from(mintRecipient).equals(ZERO_WORD)) {
    throw new ProgramError(6009, "InvalidMintRecipient", "Invalid mint recipient");
  }
  if (maxFee >= amount) {
    const message = "Max fee must be less than amount";
    throw new ProgramError(6027, "MaxFeeMustBeLessThanAmount", message);
  }
}

/** The message as it leaves Solana: what the attestation service fills in is zero. */
function sourceMessage(burn: Burn, owner: Uint8Array, remoteMessenger: Uint8Array): Uint8Array {
  return concatBytes([
    u32(1),
    u32(SOLANA_DOMAIN),
    u32(burn.destinationDomain),
    ZERO_WORD,
    bytesOf(cctpPrograms.messenger),
    remoteMessenger,
    burn.destinationCaller,
    u32(burn.minFinalityThreshold),
    u32(0),
    u32(1),
    bytesOf(solanaMints.usdc),
    burn.mintRecipient,
    u256(burn.amount),
    owner,
    u256(burn.maxFee),
    u256(0n),
    u256(0n),
    burn.hookData,
  ]);
}
