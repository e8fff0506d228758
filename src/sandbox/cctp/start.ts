import { createRegistry } from "../../chains/index.ts";
import type { PreparedChain } from "../preparedChain.ts";
import { type AttestedChain, attestedEvmChain } from "./ledger.ts";
import { type AttestationService, startAttestationService } from "./service.ts";

/** Starts the attestation service of these chains, each in its environment. */
export function startAttestation(
  chains: readonly PreparedChain[],
  more: readonly AttestedChain[] = [],
): AttestationService {
  const registry = createRegistry({ useDefaultUpstreams: false, override: {} });
  const of = (environment: "mainnet" | "testnet") => [
    ...chains
      .filter(({ chainId }) => registry.byId(chainId)?.environment === environment)
      .map(({ rpc, chainId, deployment }) => attestedEvmChain(rpc, chainId, deployment.cctp)),
    ...more.filter(({ chainId }) => registry.byId(chainId)?.environment === environment),
  ];
  return startAttestationService({ mainnet: of("mainnet"), testnet: of("testnet") });
}
