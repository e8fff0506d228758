import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { sandboxAccounts } from "../accounts.ts";
import { startAnvil } from "../anvil.ts";
import type { ProcessGroup } from "../processes.ts";
import { type ArtifactName, artifactFiles, artifactPath } from "./artifacts.ts";
import { type Deployment, deployChain } from "./chain.ts";

/** A chain's state on disk, ready to be loaded. */
export interface PreparedState {
  readonly chainId: number;
  /** For the node's `--load-state`. */
  readonly stateFile: string;
  readonly deployment: Deployment;
}

/** The local chains, ascending as in the executor's table. */
export const CHAIN_IDS = [5042, 84_532, 5_042_002] as const;

/** Versions kept on disk: switching back and forth between branches stays warm. */
const KEPT_VERSIONS = 3;

/**
 * The prepared state of a chain, deployed and saved on the first call after anything it consists of
 * has changed.
 * @param stateDir - shared by all sandboxes of this checkout
 */
export async function preparedState(
  group: ProcessGroup,
  chainId: number,
  stateDir: string,
): Promise<PreparedState> {
  const versionDir = join(stateDir, deploymentVersion());
  const stateFile = join(versionDir, `${chainId}.state.json`);
  const deploymentFile = join(versionDir, `${chainId}.deployment.json`);
  if (!existsSync(deploymentFile)) {
    mkdirSync(versionDir, { recursive: true });
    const { state, deployment } = await deployFresh(group, chainId);
    replaceFile(stateFile, state);
    // Written last: its presence says that both are complete.
    replaceFile(deploymentFile, JSON.stringify(deployment));
    removeOldVersions(stateDir);
  }
  const now = new Date();
  utimesSync(versionDir, now, now);
  return { chainId, stateFile, deployment: JSON.parse(readFileSync(deploymentFile, "utf8")) };
}

/** Deploys everything on a new chain and returns its state as the node writes it. */
export async function deployFresh(
  group: ProcessGroup,
  chainId: number,
): Promise<{ state: string; deployment: Deployment }> {
  const anvil = await startAnvil(group, { chainId });
  try {
    const deployment = await deployChain(anvil.rpc, chainId, sandboxAccounts(), CHAIN_IDS);
    const dump = (await anvil.rpc.call("anvil_dumpState")) as string;
    return { state: gunzipSync(Buffer.from(dump.slice(2), "hex")).toString(), deployment };
  } finally {
    await anvil.stop();
  }
}

/** A hash over the sources and compiled contracts that decide the state. */
function deploymentVersion(): string {
  const hasher = new Bun.CryptoHasher("sha256");
  const here = import.meta.dir;
  const sources = readdirSync(here).map((file) => join(here, file));
  const artifacts = (Object.keys(artifactFiles) as ArtifactName[]).map(artifactPath);
  const contractsDir = join(here, "../../contracts");
  const contracts = ["deployment.ts", "artifacts/SwapExecutor.json"].map((file) =>
    join(contractsDir, file),
  );
  const node = Bun.resolveSync("@foundry-rs/anvil/package.json", here);
  const shared = ["../accounts.ts", "../anvil.ts", "../cctp/accounts.ts"].map((file) =>
    join(here, file),
  );
  for (const file of [...sources, ...artifacts, ...contracts, ...shared, node].sort()) {
    hasher.update(readFileSync(file));
  }
  return hasher.digest("hex").slice(0, 16);
}

function removeOldVersions(stateDir: string): void {
  const dirs = readdirSync(stateDir).map((name) => join(stateDir, name));
  const byAge = dirs.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const dir of byAge.slice(KEPT_VERSIONS)) rmSync(dir, { recursive: true, force: true });
}

/** Whole or not at all, also when several processes write the same file. */
function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}
