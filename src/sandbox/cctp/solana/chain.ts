import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { bytesToHex, type Hex, hexToBytes, numberToBytes, slice } from "viem";
import { solanaDevnet } from "../../../chains/networks/solana.ts";
import { sandboxAccounts } from "../../accounts.ts";
import type { PreparedChain } from "../../preparedChain.ts";
import { nodeRpc } from "../../rpc.ts";
import { associatedTokenAddress } from "../../solana/genesis.ts";
import { decodeLookupTable } from "../../solana/lookupTables.ts";
import { solanaMints } from "../../solana/mints.ts";
import type { AttestedChain } from "../ledger.ts";
import { hookDataOf, readField } from "../sourceMessage.ts";
import { deploySolanaCctp } from "./deploy.ts";
import { createTokenAccount } from "./instructions.ts";
import {
  addressOf,
  cctpPrograms,
  decodeMessageSent,
  derived,
  discriminator,
  feeRecipientOf,
  SOLANA_DOMAIN,
  TOKEN_PROGRAM,
} from "./programs.ts";
import { receivePlaces } from "./receive.ts";

/** Position of the owner in the hook data: after the frame and the flag. */
const HOOK_OWNER_OFFSET = 33;

/** Links CCTP on the local cluster with that of the chains. @param url - of the local node */
export async function linkSolana(
  url: string,
  chains: readonly PreparedChain[],
): Promise<AttestedChain> {
  await deploySolanaCctp(nodeRpc(url), chains);
  return attestedSolanaChain(url);
}

/**
 * The local Solana cluster as the attestation service sees it: messages of burns, and a forwarder
 * that makes the recipient's account where it is missing.
 * @param url - of the local node
 */
function attestedSolanaChain(url: string): AttestedChain {
  const rpc = nodeRpc(url);

  async function data(account: Address): Promise<Uint8Array> {
    const { value } = (await rpc.call("getAccountInfo", [account, { encoding: "base64" }])) as {
      value: { data: readonly [string, string] } | null;
    };
    return Uint8Array.fromBase64(value?.data[0] ?? "");
  }

  async function deliver(message: Hex, attestation: Hex): Promise<string> {
    const payer = await faucetSigner();
    const owner = addressOf(hexToBytes(slice(hookDataOf(message), HOOK_OWNER_OFFSET)));
    const account = await associatedTokenAddress(owner, solanaMints.usdc, TOKEN_PROGRAM);
    if (account !== addressOf(hexToBytes(readField(message, "mintRecipient")))) {
      throw new Error("the hook's owner is not the owner of the mint recipient");
    }
    const feeRecipient = feeRecipientOf(await data(await derived.messengerState()));
    const feeAccount = await associatedTokenAddress(feeRecipient, solanaMints.usdc, TOKEN_PROGRAM);
    return send(payer, [
      createTokenAccount(payer.address, account, owner),
      await receiveInstruction(payer.address, message, attestation, account, feeAccount),
    ]);
  }

  async function send(payer: KeyPairSigner, instructions: readonly Instruction[]) {
    const { value } = (await rpc.call("getLatestBlockhash", [{ commitment: "confirmed" }])) as {
      value: { blockhash: Blockhash; lastValidBlockHeight: number };
    };
    const lifetime = {
      blockhash: value.blockhash,
      lastValidBlockHeight: BigInt(value.lastValidBlockHeight),
    };
    const { lookupTable } = cctpPrograms;
    const tables = { [lookupTable]: decodeLookupTable(await data(lookupTable)) };
    const transaction = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (draft) => setTransactionMessageFeePayerSigner(payer, draft),
        (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
        (draft) => appendTransactionMessageInstructions(instructions, draft),
        (draft) => compressTransactionMessageUsingAddressLookupTables(draft, tables),
      ),
    );
    const wire = getBase64EncodedWireTransaction(transaction);
    return (await rpc.call("sendTransaction", [wire, { encoding: "base64" }])) as string;
  }

  async function messagesOf(signature: string): Promise<readonly Hex[]> {
    const options = { commitment: "confirmed", maxSupportedTransactionVersion: 0 };
    const found = (await rpc
      .call("getTransaction", [signature, options])
      .catch(() => null)) as LandedJson | null;
    if (!found || found.meta.err !== null) return [];
    const messages = await Promise.all(
      found.transaction.message.accountKeys.map(async (key) => decodeMessageSent(await data(key))),
    );
    return messages.flatMap((sent) => (sent ? [bytesToHex(sent.message)] : []));
  }

  return {
    chainId: solanaDevnet.id,
    domain: SOLANA_DOMAIN,
    messagesOf,
    head: async () => Number(await rpc.call("getSlot")),
    mint: (_minter, message, attestation) => deliver(message, attestation),
    async isMinted(signature) {
      const { value } = (await rpc.call("getSignatureStatuses", [[signature]])) as {
        value: readonly ({ err: unknown } | null)[];
      };
      return value[0]?.err === null;
    },
  };
}

interface LandedJson {
  readonly meta: { readonly err: unknown };
  readonly transaction: { readonly message: { readonly accountKeys: readonly Address[] } };
}

async function receiveInstruction(
  payer: Address,
  message: Hex,
  attestation: Hex,
  recipient: Address,
  feeAccount: Address,
): Promise<Instruction> {
  const usedNonce = await derived.usedNonce(readField(message, "nonce"));
  const places = await receivePlaces(message, usedNonce, recipient, feeAccount);
  const roles = {
    "": AccountRole.READONLY,
    w: AccountRole.WRITABLE,
    s: AccountRole.READONLY_SIGNER,
    ws: AccountRole.WRITABLE_SIGNER,
  };
  return {
    programAddress: cctpPrograms.transmitter,
    accounts: places.map(([address, flags]) => ({ address: address ?? payer, role: roles[flags] })),
    data: Uint8Array.of(
      ...discriminator("global:receive_message"),
      ...list(message),
      ...list(attestation),
    ),
  };
}

/** Borsh: the length, little-endian, before the bytes. */
function list(hex: Hex): number[] {
  const bytes = hexToBytes(hex);
  return [...numberToBytes(bytes.length, { size: 4 }).reverse(), ...bytes];
}

function faucetSigner(): Promise<KeyPairSigner> {
  const { secretKey } = sandboxAccounts().solana.faucet;
  return createKeyPairSignerFromBytes(Uint8Array.from(getBase58Encoder().encode(secretKey)));
}
