import type { Hex } from "viem";
import type { UserWallet } from "./accounts.ts";
import type { SandboxCctp } from "./deploy/cctp.ts";

/** Names of the keys every sandbox has. */
export const keyNames = ["all", "read", "swaps", "bridges", "quotes", "bench"] as const;
export type KeyName = (typeof keyNames)[number];

/** One local chain. */
export interface SandboxChain {
  readonly name: string;
  /** The node itself. */
  readonly rpcUrl: string;
  /** The forwarding nodes in front of it, which the service uses. */
  readonly upstreams: readonly string[];
  /** Where each upstream takes faults, in the same order. */
  readonly upstreamControls: readonly string[];
  /** Addresses by symbol. */
  readonly tokens: Readonly<Record<string, Hex>>;
  readonly wrappedNative: Hex;
  readonly executor: Hex;
  readonly multicall3: Hex;
  readonly venues: readonly {
    readonly id: string;
    readonly type: "v2" | "v3";
    readonly factory: Hex;
    readonly router: Hex;
    readonly quoter: Hex;
  }[];
  readonly cctp: SandboxCctp;
}

/** The local Solana cluster. */
export interface SandboxSolana {
  readonly name: string;
  readonly chainId: number;
  /** The node itself. */
  readonly rpcUrl: string;
  /** The forwarding nodes in front of it, which the service uses. */
  readonly upstreams: readonly string[];
  /** Where each upstream takes faults, in the same order. */
  readonly upstreamControls: readonly string[];
  readonly usdcMint: string;
  /** A token kept by the Token-2022 program. */
  readonly token2022Mint: string;
}

/** What `sandbox.json` holds: everything needed to use a running sandbox. */
export interface SandboxInfo {
  /** Null in a sandbox without the service. */
  readonly baseUrl: string | null;
  readonly adminToken: string | null;
  /** Plain keys; `bench` has no window limit. */
  readonly keys: Readonly<Record<KeyName, string>> | null;
  /** By chain id. */
  readonly chains: Readonly<Record<string, SandboxChain>>;
  readonly solana: SandboxSolana;
  /** Users, funded with native and every token on every chain. */
  readonly wallets: readonly UserWallet[];
  readonly operator: { readonly evm: Hex; readonly solana: string };
  readonly services: {
    /** Base URL of the testnets' attestation service. */
    readonly attestation: string;
    readonly attestationMainnet: string;
    /** Takes moods: how burns heard of from then on are treated. */
    readonly attestationMoods: string;
    readonly priceFeeds: readonly string[];
    /** Chainlink stand-ins by symbol, on the first chain. */
    readonly aggregators: Readonly<Record<string, Hex>>;
  };
  /** Every process the sandbox started. */
  readonly pids: readonly number[];
  readonly processes: readonly { readonly name: string; readonly pid: number }[];
}
