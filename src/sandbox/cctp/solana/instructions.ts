import { AccountRole, type Address, type Instruction } from "@solana/kit";
import { solanaMints } from "../../solana/mints.ts";
import { bytesOf, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "./programs.ts";

const ATA_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL" as Address;
const { READONLY, READONLY_SIGNER, WRITABLE, WRITABLE_SIGNER } = AccountRole;

/** CreateIdempotent of the associated token account program. */
export function createTokenAccount(payer: Address, account: Address, owner: Address): Instruction {
  return {
    programAddress: ATA_PROGRAM,
    accounts: [
      { address: payer, role: WRITABLE_SIGNER },
      { address: account, role: WRITABLE },
      { address: owner, role: READONLY },
      { address: solanaMints.usdc, role: READONLY },
      { address: SYSTEM_PROGRAM, role: READONLY },
      { address: TOKEN_PROGRAM, role: READONLY },
    ],
    data: Uint8Array.of(1),
  };
}

/** MintTo of the token program. */
export function mintTo(authority: Address, account: Address, amount: bigint): Instruction {
  return {
    programAddress: TOKEN_PROGRAM,
    accounts: [
      { address: solanaMints.usdc, role: WRITABLE },
      { address: account, role: WRITABLE },
      { address: authority, role: READONLY_SIGNER },
    ],
    data: tagged(7, amount),
  };
}

/** Burn of the token program. */
export function burnFrom(owner: Address, account: Address, amount: bigint): Instruction {
  return {
    programAddress: TOKEN_PROGRAM,
    accounts: [
      { address: account, role: WRITABLE },
      { address: solanaMints.usdc, role: WRITABLE },
      { address: owner, role: READONLY_SIGNER },
    ],
    data: tagged(8, amount),
  };
}

/** Transfer of the system program. */
export function transferLamports(from: Address, to: Address, lamports: bigint): Instruction {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, 2, true);
  view.setBigUint64(4, lamports, true);
  return {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: from, role: WRITABLE_SIGNER },
      { address: to, role: WRITABLE },
    ],
    data,
  };
}

/** CreateAccount of the system program. */
export function createAccount(
  payer: Address,
  account: Address,
  owner: Address,
  { lamports, space }: { readonly lamports: bigint; readonly space: bigint },
): Instruction {
  const data = new Uint8Array(52);
  const view = new DataView(data.buffer);
  view.setBigUint64(4, lamports, true);
  view.setBigUint64(12, space, true);
  data.set(bytesOf(owner), 20);
  return {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: payer, role: WRITABLE_SIGNER },
      { address: account, role: WRITABLE_SIGNER },
    ],
    data,
  };
}

function tagged(tag: number, amount: bigint): Uint8Array {
  const data = new Uint8Array(9);
  data[0] = tag;
  new DataView(data.buffer).setBigUint64(1, amount, true);
  return data;
}
