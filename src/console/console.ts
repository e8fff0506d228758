import type { Access } from "../access/index.ts";
import type { ChainRegistry } from "../chains/index.ts";
import type { Config } from "../config/index.ts";
import type { Database } from "../db/index.ts";
import type { UpstreamPool } from "../upstream/index.ts";
import { createAccountService } from "./accounts.ts";
import { developerEndpoints } from "./developer/endpoints.ts";
import { createInsight } from "./developer/insight.ts";
import { createConsoleKeys } from "./developer/keys.ts";
import type { Endpoint } from "./endpoint.ts";
import { createGuard, type Guard } from "./guard.ts";
import { createAccountViews } from "./operator/accounts.ts";
import { operatorEndpoints } from "./operator/endpoints.ts";
import type { TransferAdmin } from "./operator/transfers.ts";
import { createAttempts } from "./session/attempts.ts";
import { sessionEndpoints } from "./session/endpoints.ts";
import { createSessions } from "./session/sessions.ts";
import { createWalletSignIn } from "./session/wallet.ts";
import type { UpstreamAdmin } from "./upstreams.ts";

export interface ConsoleOptions {
  readonly config: Config;
  readonly database: Database;
  readonly access: Access;
  readonly registry: ChainRegistry;
  readonly pool: UpstreamPool;
  readonly upstreams: UpstreamAdmin;
  /** Prices in memory and the health of their sources, as JSON. */
  readonly prices: () => object;
  readonly transfers: TransferAdmin;
  readonly isAdminToken: (presented: string) => Promise<boolean>;
  readonly adminCredential: () => Promise<string | undefined>;
}

/** The console without its HTTP surface. */
export interface DeveloperConsole {
  readonly guard: Guard;
  readonly endpoints: readonly Endpoint[];
}

/** Builds the console's parts. */
export function createConsole(options: ConsoleOptions): DeveloperConsole {
  const { access, config, database, isAdminToken, pool, registry } = options;
  const { clock, defaultWindowLimit, signer } = access;
  const sessions = createSessions({
    store: database.signIn,
    accounts: database.accounts,
    signer,
    clock,
    sessionMs: config.console.sessionMs,
    adminCredential: options.adminCredential,
  });
  const attempts = createAttempts(database.signIn, clock);
  const accounts = createAccountService({
    accounts: database.accounts,
    invitations: database.invitations,
    signIn: database.signIn,
    config: config.console,
    defaultWindowLimit,
    clock,
  });
  const wallets = createWalletSignIn({
    store: database.signIn,
    clock,
    transportOf(chainId) {
      const hasNodes = (registry.byId(chainId)?.upstreams.length ?? 0) > 0;
      return hasNodes ? pool.transport(chainId) : undefined;
    },
  });
  const { activity, usage } = database;
  const keys = createConsoleKeys({ access, accounts, activity });
  const upstreams = () => pool.status();
  const insight = createInsight({ keys, usage, activity, registry, upstreams, clock });
  return {
    guard: createGuard({ config, sessions, attempts, isAdminToken }),
    endpoints: [
      ...sessionEndpoints({
        config: config.console,
        defaultWindowLimit,
        sessions,
        wallets,
        attempts,
        accounts,
        isAdminToken,
      }),
      ...developerEndpoints({ keys, insight, registry }),
      ...operatorEndpoints({
        upstreams: options.upstreams,
        prices: options.prices,
        transfers: options.transfers,
        accounts,
        accountView: createAccountViews({ accounts, keys: database.keys, usage, clock }),
        audit: database.audit,
        registry,
        clock,
      }),
    ],
  };
}
