import { address as solanaAddress } from "@solana/kit";
import { createPublicClient, erc20Abi, type Hex, http, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { authorizationNonce } from "../../src/bridge/authorization.ts";
import type { BridgeRequest } from "../../src/bridge/model.ts";
import { associatedTokenAccount } from "../../src/bridge/solana/addresses.ts";
import { planTransfer } from "../../src/bridge/plan.ts";
import { createRegistry } from "../../src/chains/index.ts";
import type { ConfigFile } from "../../src/config/index.ts";
import type { AttestationService } from "../../src/sandbox/cctp/service.ts";
import { linkSolana } from "../../src/sandbox/cctp/solana/chain.ts";
import { startAttestation } from "../../src/sandbox/cctp/start.ts";
import type { PreparedChain } from "../../src/sandbox/preparedChain.ts";
import { nodeRpc } from "../../src/sandbox/rpc.ts";
import { solanaMints } from "../../src/sandbox/solana/mints.ts";
import { startSolanaNode } from "../../src/sandbox/solana/process.ts";
import { writeOperatorKey } from "../../src/sandbox/start.ts";
import type { Surroundings } from "./running.ts";
import { startPreparedChain, testProcesses } from "../support/chain.ts";
import { accounts, temporaryDirectory } from "../support/sandbox.ts";

export const ARC = 5042002;
export const BASE = 84532;
export const SOLANA = 133268194659241;

/** Two local chains with CCTP between them, and the attestation service. */
export interface World extends Surroundings {
  readonly chains: Readonly<Record<number, PreparedChain>>;
  readonly attestation: AttestationService;
  readonly solanaUrl: string | undefined;
  usdcOf(chainId: number, address: string): Promise<bigint>;
  stop(): Promise<void>;
}

/** A pace at which tests do not wait. */
export const HURRY: NonNullable<ConfigFile["bridge"]> = {
  pollMs: 15,
  retryMs: 40,
  leaseMs: 200,
  chainPace: { minMs: 20, maxMs: 100 },
  replaceAfterMs: 3_000,
  forwardTimeoutMs: 600,
};
const HURRIED_ATTESTATION = { requestsPerSecond: 30, restMs: 400, pace: { minMs: 20, maxMs: 60 } };

export async function startWorld(options: { readonly solana?: boolean } = {}): Promise<World> {
  const [arc, base, solana] = await Promise.all([
    startPreparedChain(ARC),
    startPreparedChain(BASE),
    options.solana ? startSolanaNode(testProcesses()) : undefined,
  ]);
  const chains: Readonly<Record<number, PreparedChain>> = { [ARC]: arc, [BASE]: base };
  const attestation = startAttestation(
    [arc, base],
    solana ? [await linkSolana(solana.url, [arc, base])] : [],
  );
  const operatorKeyFile = writeOperatorKey(temporaryDirectory());
  return {
    chains,
    attestation,
    operatorKeyFile,
    solanaUrl: solana?.url,
    configFile: {
      networks: {
        useDefaultUpstreams: false,
        override: {
          ...Object.fromEntries([arc, base].map((chain) => [chain.chainId, network(chain)])),
          ...(solana && { [SOLANA]: { upstreams: [{ url: solana.url }] } }),
        },
      },
      bridge: { ...HURRY, attestation: { ...HURRIED_ATTESTATION, urls: attestation.urls } },
    },
    async usdcOf(chainId, address) {
      const chain = chains[chainId]!;
      return createPublicClient({ transport: http(chain.url) }).readContract({
        address: usdcAddress(chain),
        abi: erc20Abi,
        functionName: "balanceOf",
        args: [address as Hex],
      });
    },
    async stop() {
      await Promise.all([arc.stop(), base.stop(), attestation.stop(), solana?.stop()]);
    },
  };
}

function network(chain: PreparedChain) {
  const { tokens, cctp } = chain.deployment;
  return { blockTimeMs: 1_000, upstreams: [{ url: chain.url }], tokens: [...tokens], cctp };
}

export function usdcAddress(chain: PreparedChain): Hex {
  return chain.deployment.tokens.find(({ symbol }) => symbol === "USDC")!.address;
}

const transferEvent = parseAbi([
  "event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)",
  "event DepositForBurn(address indexed burnToken, uint256 amount, address indexed depositor, bytes32 mintRecipient, uint32 destinationDomain, bytes32 destinationTokenMessenger, bytes32 destinationCaller, uint256 maxFee, uint32 indexed minFinalityThreshold, bytes hookData)",
]);

/** Burns and mints on a chain that name this recipient. */
export async function countFor(world: World, chainId: number, recipient: string) {
  const chain = world.chains[chainId]!;
  const client = createPublicClient({ transport: http(chain.url) });
  const { tokenMessenger, messageTransmitter } = chain.deployment.cctp;
  const wanted = recipient.slice(2).toLowerCase();
  const [burns, mints] = await Promise.all([
    client.getContractEvents({
      address: tokenMessenger,
      abi: transferEvent,
      eventName: "DepositForBurn",
      fromBlock: 0n,
    }),
    client.getContractEvents({
      address: messageTransmitter,
      abi: transferEvent,
      eventName: "MessageReceived",
      fromBlock: 0n,
    }),
  ]);
  return {
    burns: burns.filter(({ args }) => args.mintRecipient?.includes(wanted)).length,
    mints: mints.filter(({ args }) => args.messageBody?.includes(wanted)).length,
  };
}

/** EIP-712 types of `receiveWithAuthorization` (EIP-3009). */
const authorizationTypes = {
  ReceiveWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/**
 * A request with the sender's authorization for it.
 * @param payee - who may take the funds; the operator when left out
 */
export async function authorize(
  world: World,
  wallet: { readonly address: Hex; readonly privateKey: Hex },
  request: BridgeRequest,
  payee: Hex = accounts.operator.address,
) {
  const { override = {} } = world.configFile.networks ?? {};
  const registry = createRegistry({ useDefaultUpstreams: false, override });
  const body = { ...request, senderAddress: wallet.address };
  const validBefore = Math.floor(Date.now() / 1_000) + 3_600;
  const salt: Hex = `0x${crypto.getRandomValues(new Uint8Array(32)).toHex()}`;
  const plan = planTransfer(registry, "test", body);
  const signature = await privateKeyToAccount(wallet.privateKey).signTypedData({
    domain: {
      name: "USD Coin",
      version: "2",
      chainId: plan.from.id,
      verifyingContract: usdcAddress(world.chains[plan.from.id]!),
    },
    types: authorizationTypes,
    primaryType: "ReceiveWithAuthorization",
    message: {
      from: wallet.address,
      to: payee,
      value: plan.amountAtomic,
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce: authorizationNonce(plan, salt),
    },
  });
  return { ...body, authorization: { validAfter: 0, validBefore, salt, signature } };
}

/** USDC of a wallet's own token account on Solana; 0 where there is none. */
export async function usdcOnSolana({ solanaUrl }: World, owner: string): Promise<bigint> {
  const account = await associatedTokenAccount(solanaAddress(owner), solanaMints.usdc);
  const rpc = nodeRpc(solanaUrl ?? "");
  const found = await rpc.call("getTokenAccountBalance", [account]).catch(() => undefined);
  return BigInt((found as { value: { amount: string } } | undefined)?.value.amount ?? 0);
}

/** A fresh wallet address. */
export function freshRecipient(): Hex {
  return `0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`;
}
