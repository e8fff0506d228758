import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createRegistry } from "../chains/index.ts";
import { sandboxAccounts } from "./accounts.ts";
import { type AggregatorFeed, startAggregatorFeed } from "./aggregators.ts";
import type { AttestationService } from "./cctp/service.ts";
import { linkSolana } from "./cctp/solana/chain.ts";
import { startAttestation } from "./cctp/start.ts";
import { solanaDevnet } from "../chains/networks/solana.ts";
import {
  BLOCK_TIME_SECONDS,
  type ServedChain,
  type ServedSolana,
  serviceConfig,
} from "./configFile.ts";
import { CHAIN_IDS } from "./deploy/state.ts";
import { type Feed, startFeeds } from "./feeds.ts";
import type { SandboxChain, SandboxInfo, SandboxSolana } from "./info.ts";
import { forgetTransfers } from "./forgetTransfers.ts";
import { prepareSecrets, type SandboxSecrets } from "./keys.ts";
import { lockDirectory } from "./lock.ts";
import { type NodeProcess, startNode } from "./nodes.ts";
import { freePort, isFree } from "./ports.ts";
import { startPreparedChain } from "./preparedChain.ts";
import { createProcessGroup, type ProcessGroup } from "./processes.ts";
import { logDirectory, type Service, startService as launchService } from "./service.ts";
import { solanaMints } from "./solana/mints.ts";
import { startSolanaNode } from "./solana/process.ts";

export interface SandboxOptions {
  /** Everything the sandbox writes is below it. */
  readonly dir: string;
  /** Prepared chain states; `state` below `dir` when left out. */
  readonly stateDir?: string;
  /** Port of the service; 0 picks a free one. */
  readonly port?: number;
  /** false: chains, nodes and feeds only. */
  readonly withService?: boolean;
  /** Wipes `dir` first. */
  readonly fresh?: boolean;
  /** Told when each step is done. */
  readonly onStep?: (text: string) => void;
}

/** A running sandbox. */
export interface Sandbox {
  /** What `sandbox.json` holds now. */
  info(): SandboxInfo;
  readonly feeds: readonly Feed[];
  /** Starts the service where it does not run yet; settles when it is ready. */
  startService(): Promise<SandboxInfo>;
  /** Settles when the service ends by itself. */
  readonly serviceEnded: Promise<void>;
  /** Stops everything that was started. */
  stop(): Promise<void>;
}

const UPSTREAMS_PER_CHAIN = 3;
const LOCK_FILE = "lock";

/**
 * Starts local chains with real DEX contracts, forwarding nodes, price feeds and the service, and
 * writes `sandbox.json` when all of it is ready.
 * @throws SandboxInUseError when another sandbox runs on `dir`
 * @throws Error when a part does not start; what was started is stopped again
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true });
  const unlock = lockDirectory(dir);
  if (options.fresh) wipe(dir);
  rmSync(infoFile(dir), { force: true });
  const group = createProcessGroup(logDirectory(dir));
  const feeds = startFeeds();
  const ended = Promise.withResolvers<void>();
  let running: Promise<Running> | undefined;
  let parts: Parts | undefined;
  let info: SandboxInfo;

  const stop = async () => {
    rmSync(infoFile(dir), { force: true });
    parts?.aggregatorFeed.stop();
    // First, so that it drains while everything it calls still answers.
    await (await running?.catch(() => undefined))?.service.child.stop();
    await parts?.attestation.stop();
    await Promise.all([group.stop(), ...feeds.map((feed) => feed.stop())]);
    unlock();
  };
  const publish = (ready: Parts, started?: Running) => {
    info = describe(group, ready, feeds, started);
    writeFileSync(infoFile(dir), JSON.stringify(info, undefined, 2), { mode: 0o600 });
    return info;
  };
  const startService = async () => {
    if (!parts) throw new Error("the chains are not running");
    running ??= serve(group, { ...options, dir }, parts, feeds);
    const started = await running;
    void started.service.child.exited.then(() => ended.resolve());
    return publish(parts, started);
  };

  try {
    const [served, solana] = await Promise.all([
      startChains(group, { ...options, dir }),
      startSolana(group, options),
    ]);
    const prepared = served.map(({ chain }) => chain);
    const attestation = startAttestation(prepared, [await linkSolana(solana.url, prepared)]);
    parts = { served, solana, attestation, aggregatorFeed: await feedAggregators(served) };
    await (options.withService === false ? publish(parts) : startService());
  } catch (error) {
    await stop();
    throw error;
  }
  return { info: () => info, feeds, startService, serviceEnded: ended.promise, stop };
}

/** Where a running sandbox describes itself. */
export function infoFile(dir: string): string {
  return join(dir, "sandbox.json");
}

async function startChains(group: ProcessGroup, options: SandboxOptions): Promise<ServedChain[]> {
  const stateDir = options.stateDir ?? join(options.dir, "state");
  const chains = await Promise.all(
    CHAIN_IDS.map((chainId) =>
      startPreparedChain(group, { chainId, stateDir, blockTimeSeconds: BLOCK_TIME_SECONDS }),
    ),
  );
  options.onStep?.(`chains ${CHAIN_IDS.join(", ")} with tokens, venues, pools and executor`);
  const served = await Promise.all(
    chains.map(async (chain) => ({
      chain,
      nodes: await startNodes(group, String(chain.chainId), chain.url),
    })),
  );
  options.onStep?.(`${UPSTREAMS_PER_CHAIN} forwarding nodes per chain`);
  return served;
}

async function startSolana(group: ProcessGroup, options: SandboxOptions): Promise<ServedSolana> {
  const { url } = await startSolanaNode(group);
  const nodes = await startNodes(group, "solana", url);
  options.onStep?.("Solana with USDC and a Token-2022 token, forwarding nodes in front");
  return { url, nodes };
}

function startNodes(group: ProcessGroup, chain: string, target: string): Promise<NodeProcess[]> {
  return Promise.all(
    Array.from({ length: UPSTREAMS_PER_CHAIN }, (_, index) =>
      startNode(group, `node-${chain}-${index + 1}`, target),
    ),
  );
}

/** Keeps the price feeds of the first chain up to date, which the service reads. */
function feedAggregators([first]: readonly ServedChain[]): Promise<AggregatorFeed> {
  if (!first) throw new Error("no chain to put price feeds on");
  const { rpc, deployment } = first.chain;
  const owner = sandboxAccounts().deployer.address;
  return startAggregatorFeed({ rpc, owner, aggregators: deployment.aggregators });
}

/** The chains with what stands in front of them. */
interface Parts {
  readonly served: readonly ServedChain[];
  readonly solana: ServedSolana;
  readonly attestation: AttestationService;
  readonly aggregatorFeed: AggregatorFeed;
}

interface Running {
  readonly service: Service;
  readonly secrets: SandboxSecrets;
}

async function serve(
  group: ProcessGroup,
  { dir, port = 0, onStep }: SandboxOptions,
  { served, solana, attestation }: Parts,
  feeds: readonly Feed[],
): Promise<Running> {
  if (port !== 0 && !isFree(port)) {
    throw new Error(`port ${port} is in use; set PORT to another, or to 0 for a free one`);
  }
  const databaseFile = join(dir, "causeway.db");
  const databaseUrl = `file:${databaseFile}`;
  const configFile = join(dir, "causeway.json");
  const config = serviceConfig(served, feeds, solana, attestation.urls);
  writeFileSync(configFile, JSON.stringify(config, undefined, 2));
  const secrets = await prepareSecrets(dir, databaseUrl);
  forgetTransfers(databaseFile);
  onStep?.("API keys");
  const service = await launchService(group, {
    dir,
    port: port === 0 ? freePort() : port,
    databaseUrl,
    configFile,
    adminToken: secrets.adminToken,
    operatorKeyFile: writeOperatorKey(dir),
  });
  onStep?.("service");
  return { service, secrets };
}

function describe(
  group: ProcessGroup,
  { served, solana, attestation }: Parts,
  feeds: readonly Feed[],
  running: Running | undefined,
): SandboxInfo {
  const accounts = sandboxAccounts();
  const processes = group.children
    .filter((child) => child.running())
    .map(({ name, pid }) => ({ name, pid }));
  return {
    baseUrl: running?.service.baseUrl ?? null,
    adminToken: running?.secrets.adminToken ?? null,
    keys: running?.secrets.keys ?? null,
    chains: Object.fromEntries(served.map((entry) => [entry.chain.chainId, describeChain(entry)])),
    solana: describeSolana(solana),
    wallets: accounts.wallets,
    operator: { evm: accounts.operator.address, solana: accounts.solana.operator.address },
    services: {
      attestation: attestation.urls.testnet,
      attestationMainnet: attestation.urls.mainnet,
      attestationMoods: attestation.moodsUrl,
      priceFeeds: feeds.map(({ url }) => url),
      aggregators: served[0]?.chain.deployment.aggregators ?? {},
    },
    pids: processes.map(({ pid }) => pid),
    processes,
  };
}

function describeChain({ chain, nodes }: ServedChain): SandboxChain {
  const { tokens, venues, wrappedNative, executor, multicall3, cctp } = chain.deployment;
  return {
    name: networkName(chain.chainId),
    rpcUrl: chain.url,
    upstreams: nodes.map(({ url }) => url),
    upstreamControls: nodes.map(({ controlUrl }) => controlUrl),
    tokens: Object.fromEntries(tokens.map(({ symbol, address }) => [symbol, address])),
    wrappedNative,
    executor,
    multicall3,
    venues: venues.map(({ id, type, factory, router, quoter }) => ({
      id,
      type,
      factory,
      router,
      quoter,
    })),
    cctp,
  };
}

function describeSolana({ url, nodes }: ServedSolana): SandboxSolana {
  return {
    name: solanaDevnet.name,
    chainId: solanaDevnet.id,
    rpcUrl: url,
    upstreams: nodes.map((node) => node.url),
    upstreamControls: nodes.map(({ controlUrl }) => controlUrl),
    usdcMint: solanaMints.usdc,
    token2022Mint: solanaMints.token2022,
  };
}

/** The key file of the service's operator; for local development, as everyone knows the keys. */
export function writeOperatorKey(dir: string): string {
  const { operator, solana } = sandboxAccounts();
  const file = join(dir, "operator.json");
  const keys = { evm: operator.privateKey, solana: solana.operator.secretKey };
  writeFileSync(file, JSON.stringify(keys), { mode: 0o600 });
  return file;
}

function networkName(chainId: number): string {
  const registry = createRegistry({ useDefaultUpstreams: false, override: {} });
  return registry.byId(chainId)?.name ?? String(chainId);
}

/** Removes everything but the lock this process holds. */
function wipe(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (!name.startsWith(LOCK_FILE)) rmSync(join(dir, name), { recursive: true, force: true });
  }
}
