import type { ConfigFile } from "../../src/config/index.ts";
import { createRegistry } from "../../src/chains/index.ts";

const CHAIN_ID = 5042;
const HEX = 16;

/** A node of chain 5042 that answers every read with the same. */
export function startTinyNode() {
  const startedAt = performance.now();
  const blockNumber = () => 1_000 + Math.floor((performance.now() - startedAt) / 1_000);
  const resultOf = (method: string): unknown => {
    if (method === "eth_chainId") return `0x${CHAIN_ID.toString(HEX)}`;
    if (method === "eth_blockNumber") return `0x${blockNumber().toString(HEX)}`;
    if (method === "eth_getBlockByNumber") {
      return { number: `0x${blockNumber().toString(HEX)}`, hash: `0x${"ab".repeat(32)}` };
    }
    return "0x1";
  };
  const answerTo = ({ id, method }: { id: unknown; method: string }) => ({
    jsonrpc: "2.0",
    id,
    result: resultOf(method),
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = JSON.parse(await request.text());
      return Response.json(Array.isArray(body) ? body.map(answerTo) : answerTo(body));
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

/** A configuration of chain 5042 with these nodes, one of its venues switched, and a limit. */
export function chainConfig(
  urls: readonly string[],
  isFirstVenueEnabled: boolean,
  defaultWindowLimit: number,
): ConfigFile {
  const builtIn = createRegistry({ useDefaultUpstreams: false, override: {} }).byId(CHAIN_ID);
  const [first, ...others] = builtIn?.venues ?? [];
  const venues = first ? [{ ...first, enabled: isFirstVenueEnabled }, ...others] : [];
  return {
    networks: {
      useDefaultUpstreams: false,
      override: { [CHAIN_ID]: { upstreams: urls.map((url) => ({ url })), venues } },
    },
    access: { defaultWindowLimit },
  };
}
