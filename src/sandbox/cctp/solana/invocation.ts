import type { Address } from "@solana/kit";
import { type Invocation, ProgramError } from "../../solana/standIn.ts";

/** What an instruction must name at each place: `w` writable, `s` signing, both, or neither. */
export type Place = readonly [address: Address | undefined, flags: "" | "w" | "s" | "ws"];

/**
 * Compares an instruction's accounts with what the program wants, as Anchor does.
 * @param places - an undefined address is the caller's to choose
 * @throws ProgramError
 */
export function checkAccounts({ accounts }: Invocation, places: readonly Place[]): void {
  if (accounts.length < places.length) {
    throw new ProgramError(3005, "AccountNotEnoughKeys", "Not enough account keys given");
  }
  for (const [index, [wanted, flags]] of places.entries()) {
    const given = accounts[index];
    if (wanted !== undefined && given?.address !== wanted) {
      throw new ProgramError(
        2006,
        "ConstraintSeeds",
        `A seeds constraint was violated at ${index}`,
      );
    }
    if (flags.includes("w") && !given?.isWritable) {
      throw new ProgramError(2000, "ConstraintMut", `A mut constraint was violated at ${index}`);
    }
    if (flags.includes("s") && !given?.isSigner) {
      throw new ProgramError(3010, "AccountNotSigner", `The account at ${index} did not sign`);
    }
  }
}

/** Reads Borsh: integers are little-endian, lists carry their length. */
export class BorshReader {
  #at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.bytes.length) {
      throw new ProgramError(102, "InstructionDidNotDeserialize", "The instruction is too short");
    }
    const part = this.bytes.slice(this.#at, end);
    this.#at = end;
    return part;
  }

  u32(): number {
    return new DataView(this.take(4).buffer).getUint32(0, true);
  }

  u64(): bigint {
    return new DataView(this.take(8).buffer).getBigUint64(0, true);
  }

  list(): Uint8Array {
    return this.take(this.u32());
  }
}
