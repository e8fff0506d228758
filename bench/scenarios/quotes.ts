import { type Address, encodeFunctionData, type Hex, parseAbi, toHex } from "viem";
import type { PreparedChain } from "../../src/sandbox/preparedChain.ts";
import {
  httpCandidate,
  serviceTarget,
  targetOf,
  throughputFigures,
  withFigures,
} from "../candidates.ts";
import { compareCandidates } from "../compareCandidates.ts";
import type { RequestTemplate } from "../load/request.ts";
import { startChain } from "../rig/chain.ts";
import { withNodeTime } from "../rig/nodeTime.ts";
import { type RunningService, startService } from "../rig/service.ts";
import type { Bench, Candidate, Scenario } from "../scenario.ts";

type Load = Parameters<typeof httpCandidate>[3];

const VARIED = "@NUMBER@@NUMBER@";

/** A small, a middling and a large trade; amounts of about the same size in both notations. */
const TRADES = [
  { from: "USDC", to: "EURC", decimal: `1${VARIED}000`, hex: `4b${VARIED}` },
  {
    from: "EURC",
    to: "USDC",
    decimal: `1${VARIED}${"0".repeat(17)}`,
    hex: `1d2d${VARIED}${"0".repeat(10)}`,
  },
  { from: "USDC", to: "USDT", decimal: `1${VARIED}${"0".repeat(6)}`, hex: `168d4${VARIED}` },
] as const;
type Trade = (typeof TRADES)[number];

/** Calls for the chain's head and health, which no quote causes; far fewer than quotes. */
const BACKGROUND_CALLS_PER_SECOND = 20;

/** Swap quotes on real pools, amounts varied. */
export const quotes: Scenario = {
  name: "quotes",
  title: "swap quotes over real v2 and v3 pools, 32 clients, amounts varied",
  async run(bench) {
    const candidates = await quoteCandidates(bench, { clients: 32, figures: throughputFigures });
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: ["QuoterV2 through Multicall3"],
      notes: [
        "QuoterV2 through Multicall3: what every direct pool of the pair pays for the whole input, in one eth_call to the node, without multi-hop routes and splits. The node is a local anvil; a remote one adds its distance.",
        `The run fails when the node is called more than ${BACKGROUND_CALLS_PER_SECOND} times a second besides audits: quotes ask no node.`,
      ],
    });
  },
};

const RATE = 1_000;

/** How long quotes take at a rate the service can serve. */
export const quoteLatency: Scenario = {
  name: "quote-latency",
  title: `latency of swap quotes arriving at ${RATE} per second (open loop)`,
  async run(bench) {
    const candidates = await quoteCandidates(bench, {
      clients: 64,
      rate: RATE,
      figures: ["p50Ms", "p90Ms", "p99Ms", "p999Ms", "failures"],
    });
    return compareCandidates(bench, this, candidates, {
      headline: "p50Ms",
      baselines: ["QuoterV2 through Multicall3"],
      notes: ["A latency runs from the time the request was due."],
    });
  },
};

/** The service, and the same trades asked of the venues' own quoters. */
async function quoteCandidates(bench: Bench, load: Load): Promise<Candidate[]> {
  const { chain, config } = await startChain(bench.rig);
  const candidates: Candidate[] = [];
  for (const source of bench.sources) {
    const service = await startService(bench.rig, source, config);
    const target = serviceTarget(service, quoteRequests(5042), '"success":true');
    const candidate = httpCandidate(bench, service.label, target, load, service);
    candidates.push(withNoCalls(withNodeTime(candidate, service, "quote"), service));
  }
  if (bench.withReferences) {
    const { hostname, port } = new URL(chain.url);
    const requests = TRADES.map((trade) => quoterRequest(chain, trade));
    const target = targetOf({ hostname, port: Number(port) }, requests, '"result":"0x');
    candidates.push(httpCandidate(bench, "QuoterV2 through Multicall3", target, load));
  }
  return candidates;
}

/** Quotes of trades of three sizes on one of the sandbox's chains, amounts varied. */
export function quoteRequests(chainId: number): RequestTemplate[] {
  return TRADES.map(({ from, to, decimal }) => ({
    method: "POST",
    path: "/api/public/swap/quote",
    headers: {},
    body: `{"inputToken":"${from}","outputToken":"${to}","inputAmount":"${decimal}","chainId":${chainId}}`,
    weight: 1,
  }));
}

/** Fails a run in which quotes asked a node. Audits do, after the answer, and are counted apart. */
function withNoCalls(candidate: Candidate, { metrics }: RunningService): Candidate {
  const read = async () => {
    const text = await metrics();
    return {
      calls: sumOf(text, "causeway_upstream_attempts_total{"),
      audits: sumOf(text, "causeway_market_audits_total{", 'outcome="dropped"'),
      atMs: performance.now(),
    };
  };
  return withFigures(candidate, read, (before, after) => {
    const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
    const others = (grown("calls") - grown("audits")) / (grown("atMs") / 1_000);
    if (others > BACKGROUND_CALLS_PER_SECOND) {
      throw new Error(`${candidate.name}: ${others.toFixed(0)} node calls a second besides audits`);
    }
    return { backgroundCallsPerSecond: others };
  });
}

/** Sum of the rows that begin with a text and do not hold another. */
function sumOf(metrics: string, start: string, without?: string): number {
  return metrics
    .split("\n")
    .filter((row) => row.startsWith(start) && !(without && row.includes(without)))
    .reduce((sum, row) => sum + Number(row.slice(row.lastIndexOf(" ") + 1)), 0);
}

const abi = parseAbi([
  "struct Call { address target; bool allowFailure; bytes callData; }",
  "function aggregate3(Call[] calls) payable",
  "struct Params { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 limit; }",
  "function quoteExactInputSingle(Params params)",
  "function getAmountsOut(uint256 amountIn, address[] path)",
]);
/** Stands for the amount while calls are encoded; occurs nowhere else in them. */
const PLACEHOLDER = 0xdecafbad0ddba11n;

/** The same trade asked of the venues' own contracts, every direct pool in one call. */
function quoterRequest({ deployment }: PreparedChain, { from, to, hex }: Trade): RequestTemplate {
  const { tokens, venues, multicall3 } = deployment;
  const [tokenIn, tokenOut] = [from, to].map(
    (symbol) => tokens.find((token) => token.symbol === symbol)?.address as Address,
  ) as [Address, Address];
  const calls = venues.flatMap(({ type, quoter, feeTiers = [0] }) =>
    (type === "v2" ? [0] : feeTiers).map((fee) => ({
      target: quoter as Address,
      allowFailure: true,
      callData: type === "v2" ? pairCall(tokenIn, tokenOut) : poolCall(tokenIn, tokenOut, fee),
    })),
  );
  const data = encodeFunctionData({ abi, functionName: "aggregate3", args: [calls] });
  const word = toHex(PLACEHOLDER, { size: 32 }).slice(2);
  const length = hex.replaceAll("@NUMBER@", "000").length;
  const varied = data.replaceAll(word, "0".repeat(64 - length) + hex);
  return {
    method: "POST",
    path: "/",
    headers: {},
    body: `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"${multicall3}","data":"${varied}"},"latest"]}`,
    weight: 1,
  };
}

function pairCall(tokenIn: Address, tokenOut: Address): Hex {
  const args = [PLACEHOLDER, [tokenIn, tokenOut]] as const;
  return encodeFunctionData({ abi, functionName: "getAmountsOut", args });
}

function poolCall(tokenIn: Address, tokenOut: Address, fee: number): Hex {
  const params = { tokenIn, tokenOut, amountIn: PLACEHOLDER, fee, limit: 0n };
  return encodeFunctionData({ abi, functionName: "quoteExactInputSingle", args: [params] });
}
