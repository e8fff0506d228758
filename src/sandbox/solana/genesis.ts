import {
  type Address,
  address,
  getAddressEncoder,
  getProgramDerivedAddress,
  lamports,
} from "@solana/kit";
import type { SandboxAccounts } from "../accounts.ts";
import { Cluster } from "./cluster.ts";
import { createFaucet, type Faucet } from "./faucet.ts";
import { solanaMints } from "./mints.ts";
import { encodeMint, encodeTokenAccount, tokenPrograms } from "./tokenLayout.ts";

const ATA_PROGRAM = address("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
const LAMPORTS_PER_SOL = 1_000_000_000n;
const FAUCET_SOL = 100_000_000n;
const USER_SOL = 1_000n;
const USER_TOKENS = 10_000_000n;
const DECIMALS = 6;
/**
 * Prepares a cluster: SOL, USDC and a Token-2022 token for users and operator. The faucet's account
 * may mint both tokens.
 */
export async function prepareCluster(
  accounts: SandboxAccounts,
): Promise<{ cluster: Cluster; faucet: Faucet }> {
  const cluster = new Cluster();
  const { faucet, operator } = accounts.solana;
  setLamports(cluster, faucet.address, FAUCET_SOL * LAMPORTS_PER_SOL);
  const owners = [...accounts.wallets.map(({ solana }) => solana.address), operator.address];
  for (const owner of owners) setLamports(cluster, owner, USER_SOL * LAMPORTS_PER_SOL);
  await prepareToken(cluster, solanaMints.usdc, tokenPrograms["spl-token"], faucet.address, owners);
  const program2022 = tokenPrograms["spl-token-2022"];
  await prepareToken(cluster, solanaMints.token2022, program2022, faucet.address, owners);
  return { cluster, faucet: await createFaucet(cluster, faucet) };
}

/** A wallet's own account of a token: a program address of owner, token program and mint. */
export async function associatedTokenAddress(
  owner: Address,
  mint: Address,
  tokenProgram: Address,
): Promise<Address> {
  const encoder = getAddressEncoder();
  const [found] = await getProgramDerivedAddress({
    programAddress: ATA_PROGRAM,
    seeds: [owner, tokenProgram, mint].map((seed) => encoder.encode(seed)),
  });
  return found;
}

async function prepareToken(
  cluster: Cluster,
  mint: Address,
  tokenProgram: Address,
  mintAuthority: Address,
  owners: readonly Address[],
): Promise<void> {
  const amount = USER_TOKENS * 10n ** BigInt(DECIMALS);
  const supply = amount * BigInt(owners.length);
  const state = { mintAuthority, supply, decimals: DECIMALS, freezeAuthority: undefined };
  setData(cluster, mint, tokenProgram, encodeMint(state));
  for (const owner of owners) {
    const account = await associatedTokenAddress(owner, mint, tokenProgram);
    setData(cluster, account, tokenProgram, encodeTokenAccount(mint, owner, amount));
  }
}

function setLamports(cluster: Cluster, owner: Address, amount: bigint): void {
  cluster.setAccount({
    address: owner,
    lamports: lamports(amount),
    programAddress: address("11111111111111111111111111111111"),
    executable: false,
    space: 0n,
    data: new Uint8Array(),
  });
}

/** An account with data, exempt from rent. */
export function setData(
  cluster: Cluster,
  account: Address,
  programAddress: Address,
  data: Uint8Array,
): void {
  const space = BigInt(data.length);
  cluster.setAccount({
    address: account,
    lamports: lamports(cluster.rentFor(space)),
    programAddress,
    executable: false,
    space,
    data,
  });
}
