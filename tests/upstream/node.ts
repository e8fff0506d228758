import type { ChainRegistry } from "../../src/chains/index.ts";
import type { Chain } from "../../src/chains/index.ts";

/** A JSON-RPC request as a test node sees it. */
export interface NodeRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Answers a request with a result, or with a whole response. */
export type Behaviour = (request: NodeRequest, http: Request) => unknown;

/** A scripted node on a port of its own, with a ledger of what it was asked. */
export interface TestNode {
  readonly url: string;
  readonly requests: NodeRequest[];
  /** How calls other than those of the watch are answered. */
  behave(behaviour: Behaviour): void;
  /** How every request is answered, those of the watch too; undefined: as usual. */
  behaveAlways(behaviour: Behaviour | undefined): void;
  /** Requests that are not the pool's own watch. */
  calls(): NodeRequest[];
  setHead(head: number): void;
  setChainId(chainId: number): void;
  /** Drops all connections and refuses new ones. */
  kill(): Promise<void>;
  /** Listens again on the same port. */
  revive(): void;
}

const watchMethods = new Set(["eth_chainId", "eth_blockNumber"]);

const answerFive: Behaviour = () => "0x5";

/** Starts a node that answers `"0x5"` to everything until told otherwise. */
export function startNode(): TestNode {
  const requests: NodeRequest[] = [];
  let behaviour: Behaviour = answerFive;
  let always: Behaviour | undefined;
  let head = 100;
  let chainId = 1;
  const answerWatch: Behaviour = ({ method }) =>
    `0x${(method === "eth_chainId" ? chainId : head).toString(16)}`;

  const serve = (port: number) =>
    Bun.serve({
      port,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      async fetch(http) {
        const request = (await http.json()) as NodeRequest;
        requests.push(request);
        const act = always ?? (watchMethods.has(request.method) ? answerWatch : behaviour);
        const result = await act(request, http);
        if (result instanceof Response) return result;
        return Response.json({ jsonrpc: "2.0", id: request.id, result });
      },
    });
  let server = serve(0);
  const port = server.port ?? 0;
  return {
    url: `http://127.0.0.1:${port}/key-in-path`,
    requests,
    behave: (next) => (behaviour = next),
    behaveAlways: (next) => (always = next),
    calls: () => requests.filter(({ method }) => !watchMethods.has(method)),
    setHead: (next) => (head = next),
    setChainId: (next) => (chainId = next),
    kill: () => server.stop(true),
    revive: () => {
      server = serve(port);
    },
  };
}

/** Never answers, until the caller hangs up. */
export const hang: Behaviour = (_request, http) =>
  new Promise((resolve) => {
    http.signal.addEventListener("abort", () => resolve(new Response(null, { status: 499 })));
  });

/** A JSON-RPC error response. */
export function rpcError(request: NodeRequest, error: unknown, status = 200): Response {
  return Response.json({ jsonrpc: "2.0", id: request.id, error }, { status });
}

/** A registry of one EVM chain, id 1, over these URLs. */
export function registryOf(urls: readonly string[], members: Partial<Chain> = {}): ChainRegistry {
  const chain: Chain = {
    kind: "evm",
    id: 1,
    name: "Test",
    aliases: [],
    environment: "testnet",
    blockTimeMs: 1_000,
    native: { symbol: "ETH", decimals: 18 },
    upstreams: urls.map((url) => ({ url })),
    tokens: [],
    connectors: [],
    venues: [],
    ...members,
  };
  const find = (name: string) =>
    name.toLowerCase() === "test" || name === String(chain.id) ? chain : undefined;
  return { all: [chain], byId: (id) => (id === chain.id ? chain : undefined), byName: find };
}
