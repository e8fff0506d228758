import type { Address } from "@solana/kit";
import type { Hex } from "viem";
import { pad } from "viem";
import { createRegistry } from "../../../chains/index.ts";
import { sandboxAccounts } from "../../accounts.ts";
import type { PreparedChain } from "../../preparedChain.ts";
import type { NodeRpc } from "../../rpc.ts";
import { associatedTokenAddress } from "../../solana/genesis.ts";
import { encodeLookupTable } from "../../solana/lookupTables.ts";
import { solanaMints } from "../../solana/mints.ts";
import { encodeTokenAccount } from "../../solana/tokenLayout.ts";
import {
  cctpPrograms,
  derived,
  encodeMessengerState,
  encodeRemoteMessenger,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "./programs.ts";

const LOOKUP_TABLE_PROGRAM = "AddressLookupTab1e1111111111111111111111111" as Address;

/**
 * Puts in place what CCTP's programs keep on the local cluster: the messenger and its fee
 * recipient, the messengers and tokens of the EVM chains, and the public lookup table.
 */
export async function deploySolanaCctp(
  rpc: NodeRpc,
  chains: readonly PreparedChain[],
): Promise<void> {
  const put = (account: Address, program: Address, data: Uint8Array) =>
    rpc.call("sandbox_setAccount", [account, program, Buffer.from(data).toString("base64")]);
  const feeRecipient = sandboxAccounts().solana.faucet.address;
  const feeAccount = await associatedTokenAddress(feeRecipient, solanaMints.usdc, TOKEN_PROGRAM);
  const { messenger, lookupTable } = cctpPrograms;
  await put(await derived.messengerState(), messenger, encodeMessengerState(feeRecipient));
  await put(feeAccount, TOKEN_PROGRAM, encodeTokenAccount(solanaMints.usdc, feeRecipient, 0n));
  const linked: Address[] = [];
  const registry = createRegistry({ useDefaultUpstreams: false, override: {} });
  for (const { chainId, deployment } of chains) {
    if (registry.byId(chainId)?.environment !== "testnet") continue;
    const { domain, tokenMessenger } = deployment.cctp;
    const remote = await derived.remoteMessenger(domain);
    await put(remote, messenger, encodeRemoteMessenger(domain, pad(tokenMessenger)));
    const token = deployment.tokens.find(({ symbol }) => symbol === "USDC")?.address ?? "0x";
    const pair = await derived.tokenPair(domain, pad(token as Hex).toLowerCase() as Hex);
    await put(pair, messenger, new Uint8Array(8));
    linked.push(remote, pair);
  }
  const table = [...(await sharedAddresses()), feeAccount, ...linked];
  await put(lookupTable, LOOKUP_TABLE_PROGRAM, encodeLookupTable(table));
}

/** What every burn and mint names. */
async function sharedAddresses(): Promise<Address[]> {
  return [
    cctpPrograms.transmitter,
    cctpPrograms.messenger,
    TOKEN_PROGRAM,
    SYSTEM_PROGRAM,
    solanaMints.usdc,
    ...(await Promise.all([
      derived.transmitterState(),
      derived.transmitterEvents(),
      derived.receiverAuthority(),
      derived.messengerState(),
      derived.messengerEvents(),
      derived.senderAuthority(),
      derived.minter(),
      derived.localToken(),
      derived.custody(),
    ])),
  ];
}
