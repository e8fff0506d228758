import { bytesToHex, type Hex, maxUint256, pad } from "viem";
import type { CctpData } from "../../config/index.ts";
import { createRegistry, findToken } from "../../chains/index.ts";
import { decodeBase58 } from "../../lib/base58.ts";
import { cctpAccounts, SIGNATURE_THRESHOLD } from "../cctp/accounts.ts";
import { readArtifact } from "./artifacts.ts";
import type { SandboxToken } from "./tokens.ts";
import type { TransactionList } from "./transactions.ts";

/** CCTP of a prepared chain, with addresses known to be hex. */
export interface SandboxCctp extends CctpData {
  readonly tokenMessenger: Hex;
  readonly messageTransmitter: Hex;
}

/** Circle's limit per message: 10,000,000 USDC. */
const BURN_LIMIT = 10_000_000_000_000n;

/**
 * Deploys CCTP's three contracts and links them with those of every other network: EVM networks
 * have the same addresses as this one, Solana's are the registry's.
 * @param chainId - decides the domain
 * @param owner - account of the list
 */
export function deployCctp(
  list: TransactionList,
  chainId: number,
  owner: Hex,
  usdc: SandboxToken,
): SandboxCctp {
  const registry = createRegistry({ useDefaultUpstreams: false, override: {} });
  const local = registry.byId(chainId);
  if (!local?.cctp) throw new Error(`chain ${chainId} has no CCTP domain`);
  const { domain } = local.cctp;
  const { attesters, feeRecipient } = cctpAccounts();

  const transmitter = list.deploy("message transmitter", readArtifact("messageTransmitter"), [
    domain,
    owner,
    attesters.map(({ address }) => address),
    SIGNATURE_THRESHOLD,
  ]);
  const minter = list.deploy("token minter", readArtifact("tokenMinter"), [owner]);
  const messenger = list.deploy("token messenger", readArtifact("tokenMessenger"), [
    owner,
    transmitter.address,
    minter.address,
    feeRecipient,
  ]);
  list.call(minter, "addLocalTokenMessenger", [messenger.address]);
  list.call(minter, "setMaxBurnAmountPerMessage", [usdc.contract.address, BURN_LIMIT]);
  list.call(usdc.contract, "configureMinter", [minter.address, maxUint256]);

  const linked = new Set([domain]);
  for (const { kind, cctp, environment, ...chain } of registry.all) {
    if (!cctp || environment !== local.environment || linked.has(cctp.domain)) continue;
    linked.add(cctp.domain);
    const token = findToken({ ...chain, kind, cctp, environment }, "USDC")?.address ?? "";
    const [remoteMessenger, remoteToken] =
      kind === "solana"
        ? [solanaWord(cctp.tokenMessenger), solanaWord(token)]
        : [pad(messenger.address), pad(usdc.contract.address)];
    list.call(messenger, "addRemoteTokenMessenger", [cctp.domain, remoteMessenger]);
    list.call(minter, "linkTokenPair", [usdc.contract.address, cctp.domain, remoteToken]);
  }
  return { domain, tokenMessenger: messenger.address, messageTransmitter: transmitter.address };
}

function solanaWord(address: string): Hex {
  const bytes = decodeBase58(address);
  if (bytes?.length !== 32) throw new Error(`${address} is not a Solana address`);
  return bytesToHex(bytes);
}
