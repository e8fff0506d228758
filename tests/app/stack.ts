import { type FaultNode, startFaultNode } from "../../src/sandbox/faults/node.ts";
import { startAttestation } from "../../src/sandbox/cctp/start.ts";
import { type Feed, startFeeds } from "../../src/sandbox/feeds.ts";
import type { PreparedChain } from "../../src/sandbox/preparedChain.ts";
import { startPreparedChain } from "../support/sandbox.ts";
import { type LocalService, startLocalService } from "./service.ts";

/** The service over private chains, each behind three scriptable nodes, with local price feeds. */
export interface Stack {
  /** The first chain, and its nodes. */
  readonly chain: PreparedChain;
  readonly nodes: readonly FaultNode[];
  readonly feeds: readonly Feed[];
  readonly service: LocalService;
  stop(): Promise<void>;
}

/** Starts a stack; stop it in `afterAll`. @param databaseUrl - left out: in memory */
export async function startStack(
  chainIds: readonly number[] = [5042],
  databaseUrl?: string,
): Promise<Stack> {
  const fronted = await Promise.all(chainIds.map(startChain));
  const feeds = startFeeds();
  const attestation = startAttestation(fronted.map(({ chain }) => chain));
  const service = await startLocalService(
    fronted.map(({ chain, nodes }) => ({
      chain,
      nodes: nodes.map(({ url }) => ({ url, controlUrl: url, pid: 0 })),
    })),
    feeds,
    attestation,
    databaseUrl,
  );
  const [first] = fronted;
  if (!first) throw new Error("a stack needs a chain");
  return {
    ...first,
    feeds,
    service,
    async stop() {
      await service.stop();
      await attestation.stop();
      const nodes = fronted.flatMap((entry) => entry.nodes);
      await Promise.all([...nodes, ...feeds].map((part) => part.stop()));
      await Promise.all(fronted.map(({ chain }) => chain.stop()));
    },
  };
}

async function startChain(chainId: number) {
  const chain = await startPreparedChain(chainId);
  const nodes = await Promise.all([1, 2, 3].map(() => startFaultNode({ target: chain.url })));
  return { chain, nodes };
}
