import type { Address } from "viem";
import type { Chain, ChainRegistry } from "../chains/index.ts";
import type { BridgeStore } from "../db/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { UpstreamPool } from "../upstream/index.ts";
import type { MintTarget } from "./draft.ts";
import { chainClient } from "./evm/client.ts";
import { createEvmNetwork } from "./evm/network.ts";
import { createEvmSender } from "./evm/sender.ts";
import type { BridgeNetwork } from "./network.ts";
import type { OperatorKeys } from "./operator.ts";
import type { TransferPlan } from "./plan.ts";
import { createSolanaNetwork } from "./solana/network.ts";
import { solanaMintTarget } from "./solana/recipient.ts";
import { solanaCalls } from "./solana/rpc.ts";
import { createSolanaSender } from "./solana/sender.ts";
import { addressWord, cctpOf } from "./words.ts";

/** The networks transfers run on, with the operator's wallets. */
export interface BridgeNetworks {
  /** Payee of senders' authorizations. */
  readonly evmOperator: Address;
  /** @throws Error when the registry has no such network */
  get(chainId: number): BridgeNetwork;
  /** Whether the operator has a wallet there. */
  canSign(chain: Chain): boolean;
  /**
   * Who is minted to.
   * @throws ApiError `INVALID_RECIPIENT` when the recipient could not take the money
   */
  mintTarget(plan: TransferPlan): Promise<MintTarget>;
}

export interface BridgeNetworksDependencies {
  readonly chains: ChainRegistry;
  readonly upstream: Pick<UpstreamPool, "transport" | "call">;
  readonly store: BridgeStore;
  readonly clock: Clock;
  readonly keys: OperatorKeys;
  readonly replaceAfterMs: number;
  readonly onEdge: (edge: string, transferId: string) => void;
}

/** Networks are made on first use; there are at most as many as the registry has. */
export function createBridgeNetworks(deps: BridgeNetworksDependencies): BridgeNetworks {
  const { chains, keys } = deps;
  const made = new Map<number, BridgeNetwork>();

  function make(chain: Chain): BridgeNetwork {
    return chain.kind === "evm" ? makeEvm(chain) : makeSolana(chain);
  }

  function makeSolana(chain: Chain): BridgeNetwork {
    const call = solanaCalls(deps.upstream, chain.id);
    const { store, clock } = deps;
    const sender = createSolanaSender({ chainId: chain.id, call, store, clock });
    const network = cctpOf(chain);
    return createSolanaNetwork({ network, secret: keys.solana, call, sender, store });
  }

  function makeEvm(chain: Chain): BridgeNetwork {
    const client = chainClient(deps.upstream, chain.id);
    const account = keys.evm;
    const sender = createEvmSender({
      chainId: chain.id,
      account,
      client,
      store: deps.store,
      clock: deps.clock,
      replaceAfterMs: deps.replaceAfterMs,
      onReserved: (id, purposes) => deps.onEdge(`${purposes.at(-1)} reserved`, id),
    });
    return createEvmNetwork({ network: cctpOf(chain), account, client, sender });
  }

  function get(chainId: number): BridgeNetwork {
    const known = made.get(chainId);
    if (known) return known;
    const chain = chains.byId(chainId);
    if (!chain) throw new Error(`network ${chainId} is no longer in the registry`);
    const network = make(chain);
    made.set(chainId, network);
    return network;
  }

  return {
    evmOperator: keys.evm.address,
    get,
    canSign: ({ kind }) => kind === "evm" || keys.solana !== undefined,
    async mintTarget({ to, recipient }) {
      if (to.kind === "evm") return { word: addressWord("evm", recipient), needsSetup: false };
      return solanaMintTarget(solanaCalls(deps.upstream, to.id), recipient, cctpOf(to).usdc);
    },
  };
}
