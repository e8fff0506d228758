import { readFileSync } from "node:fs";
import { Value } from "@sinclair/typebox/value";
import { type BridgeConfig, bridgeConfig } from "./bridge.ts";
import { type ConsoleConfig, consoleConfig } from "./console.ts";
import { type ConfigFile, ConfigFileSchema } from "./file.ts";
import type { NetworkData } from "./network.ts";

export type { CctpData, NetworkData, TokenData, UpstreamData, VenueData } from "./network.ts";
export { NetworkSchema, UpstreamSchema } from "./network.ts";
export type { ConfigFile } from "./file.ts";
export type { ConsoleConfig, SignUp } from "./console.ts";

/** Everything the process was told, checked once at start. Durations in ms, sizes in bytes. */
export interface Config {
  readonly listen: {
    readonly host: string;
    /** 0 picks a free port. */
    readonly port: number;
    readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
    /** CIDR blocks whose `X-Forwarded-Proto` and `X-Forwarded-For` are believed. */
    readonly trustedProxies: readonly string[];
    /** Processes that share the port; more than one needs Postgres and Redis. */
    readonly workers: number;
    /** After a signal to stop, requests are served for this long while balancers turn away, ms. */
    readonly drainNoticeMs: number;
  };
  readonly http: { readonly maxBodyBytes: number };
  readonly database: { readonly url: string };
  /** Where replicas share rate windows and tell each other of changes; undefined: each is alone. */
  readonly redis: { readonly url: string } | undefined;
  readonly logLevel: string;
  /** Operator token; undefined: one is made and printed once. */
  readonly adminToken: string | undefined;
  readonly access: {
    readonly windowMs: number;
    /** Requests per window of a key that has no limit of its own. */
    readonly defaultWindowLimit: number;
    readonly maxBatchItems: number;
    readonly pepper: PepperSource;
  };
  readonly rpc: {
    /** Methods refused beside those refused by default; `debug_*` means the namespace. */
    readonly refusedMethods: readonly string[];
    /** Methods served although they are refused by default, or by a pattern. */
    readonly allowedMethods: readonly string[];
  };
  /** WebSocket connections of the JSON-RPC proxy. */
  readonly sockets: {
    readonly maxPerKey: number;
    readonly maxSubscriptions: number;
    /** Requests of one connection that are worked on at once, batch items counted one by one. */
    readonly maxInFlight: number;
    /** Bytes that may wait in the connection before more is held back. */
    readonly highWaterBytes: number;
    /** Notifications held back for a connection; with more it is dropped. */
    readonly maxQueuedBytes: number;
    /** A connection that takes nothing for this long is dropped. */
    readonly stallMs: number;
    /** A silent connection is asked for a sign of life this often, and dropped without one. */
    readonly pingMs: number;
    /** Keys of open connections are checked this often. */
    readonly checkMs: number;
  };
  readonly networks: {
    readonly useDefaultUpstreams: boolean;
    /** By chain id: members that replace those of the built-in network. */
    readonly override: Readonly<Record<string, Partial<NetworkData>>>;
  };
  readonly upstream: {
    /** Memory of answers that cannot change, of all chains together; 0: none. */
    readonly cacheMaxBytes: number;
    /** Memory of all answers on their way to callers together. */
    readonly maxBufferedBytes: number;
  };
  readonly swap: {
    readonly defaultChainId: number;
    readonly defaultSlippageBps: number;
    readonly maxSlippageBps: number;
    /** Taken from the output by the executor, which caps it at 100. */
    readonly platformFeeBps: number;
    /** How long a built transaction stays valid. */
    readonly deadlineSeconds: number;
    /** Part of all quotes that is compared with the chain afterwards, 0 to 1. */
    readonly auditShare: number;
    /** Oldest state a quote is computed from; three blocks where that is longer. */
    readonly maxStateAgeMs: number;
  };
  readonly prices: {
    readonly baseUrls: Readonly<Record<string, string>>;
    /** By source id. */
    readonly apiKeys: Readonly<Record<string, string>>;
    /** By symbol: Chainlink feeds in place of the known ones. */
    readonly aggregators: Readonly<
      Record<
        string,
        {
          readonly chainId: number;
          readonly address: string;
          readonly heartbeatSeconds: number;
          readonly decimals: number;
        }
      >
    >;
    readonly refreshMs: number;
    readonly timeoutMs: number;
    /** A source further than this from the round's median is dropped. */
    readonly maxDeviationBps: number;
  };
  readonly bridge: BridgeConfig;
  readonly console: ConsoleConfig;
  readonly balance: {
    readonly allowedOrigins: readonly string[];
    /** `rpcUrl` of the API documents' example; public. */
    readonly exampleRpcUrl: string;
  };
}

/** Where the pepper of the key hashes comes from; nothing given: a file beside the database's. */
export interface PepperSource {
  /** 64 hex digits. */
  readonly hex?: string;
  /** Path of a file that holds them. */
  readonly file?: string;
}

/** Whether a database URL names a Postgres server; any other is SQLite's. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:/.test(url);
}

/** What is wrong with the environment or the config file; the process must not start. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The environment variables `start` reads; see the README for each. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** On Postgres, where no database file says where the pepper's belongs. */
const DEFAULT_PEPPER_FILE = ".data/causeway.pepper";
const MAX_WORKERS = 64;

/**
 * Builds the frozen configuration.
 * @param env - process environment
 * @param readFile - reads the config file; replaced in tests
 * @throws ConfigError naming the variable or the member of the file that is wrong
 */
export function loadConfig(
  env: Environment = process.env,
  readFile: (path: string) => string = (path) => readFileSync(path, "utf8"),
): Config {
  const file = env["CAUSEWAY_CONFIG"] ? parseFile(env["CAUSEWAY_CONFIG"], readFile) : {};
  const certFile = env["TLS_CERT"];
  const keyFile = env["TLS_KEY"];
  if (!certFile !== !keyFile) throw new ConfigError("TLS_CERT and TLS_KEY must be set together");

  const databaseUrl = env["DATABASE_URL"] || "file:.data/causeway.db";
  const redisUrl = env["REDIS_URL"] || undefined;
  if (redisUrl && !/^(redis|rediss|valkey):\/\//.test(redisUrl)) {
    throw new ConfigError("REDIS_URL must be redis://… or rediss://…");
  }
  const override: Record<string, Partial<NetworkData>> = { ...file.networks?.override };
  for (const [name, value] of Object.entries(env)) {
    const chainId = /^UPSTREAMS_([0-9]+)$/.exec(name)?.[1];
    if (chainId && value) {
      override[chainId] = { ...override[chainId], upstreams: parseUrls(name, value) };
    }
  }

  return deepFreeze({
    listen: {
      host: env["HOST"] ?? "127.0.0.1",
      port: parseInteger(env, "PORT", 3000, 0, 65_535),
      tls: certFile && keyFile ? { certFile, keyFile } : undefined,
      trustedProxies: splitList(env["TRUSTED_PROXIES"]),
      workers: parseWorkers(env, isPostgresUrl(databaseUrl) && redisUrl !== undefined),
      drainNoticeMs: parseInteger(env, "DRAIN_NOTICE_MS", redisUrl ? 5_000 : 0, 0, 600_000),
    },
    http: { maxBodyBytes: 1_048_576 },
    database: { url: databaseUrl },
    redis: redisUrl ? { url: redisUrl } : undefined,
    logLevel: env["LOG_LEVEL"] ?? "info",
    adminToken: env["ADMIN_TOKEN"] || undefined,
    access: {
      windowMs: 60_000,
      defaultWindowLimit: file.access?.defaultWindowLimit ?? 600,
      maxBatchItems: 100,
      pepper: pepperSource(
        env["KEY_PEPPER"],
        env["KEY_PEPPER_FILE"],
        isPostgresUrl(databaseUrl) ? { file: DEFAULT_PEPPER_FILE } : {},
      ),
    },
    rpc: {
      refusedMethods: file.rpc?.refusedMethods ?? [],
      allowedMethods: file.rpc?.allowedMethods ?? [],
    },
    sockets: {
      maxPerKey: 100,
      maxSubscriptions: 100,
      maxInFlight: 256,
      highWaterBytes: 1_048_576,
      maxQueuedBytes: 4_194_304,
      stallMs: 10_000,
      pingMs: 30_000,
      checkMs: 500,
    },
    networks: {
      useDefaultUpstreams: file.networks?.useDefaultUpstreams ?? true,
      override,
    },
    upstream: {
      cacheMaxBytes: file.upstream?.cacheMaxBytes ?? 64 * 1024 * 1024,
      maxBufferedBytes: file.upstream?.maxBufferedBytes ?? 256 * 1024 * 1024,
    },
    swap: {
      defaultChainId: 5042,
      defaultSlippageBps: 50,
      maxSlippageBps: 5_000,
      platformFeeBps: file.swap?.platformFeeBps ?? 0,
      deadlineSeconds: file.swap?.deadlineSeconds ?? 1_200,
      auditShare: file.swap?.auditShare ?? 0.01,
      maxStateAgeMs: file.swap?.maxStateAgeMs ?? 10_000,
    },
    prices: {
      baseUrls: file.prices?.baseUrls ?? {},
      apiKeys: file.prices?.apiKeys ?? {},
      aggregators: file.prices?.aggregators ?? {},
      refreshMs: file.prices?.refreshMs ?? 15_000,
      timeoutMs: file.prices?.timeoutMs ?? 3_000,
      maxDeviationBps: file.prices?.maxDeviationBps ?? 100,
    },
    bridge: bridgeConfig(file.bridge, env["OPERATOR_KEY_FILE"] || undefined),
    console: consoleConfig(file.console),
    balance: {
      allowedOrigins: file.balance?.allowedOrigins ?? [],
      exampleRpcUrl: file.balance?.exampleRpcUrl ?? "https://rpc.testnet.arc.network",
    },
  });
}

function parseFile(path: string, readFile: (path: string) => string): ConfigFile {
  let data: unknown;
  try {
    data = JSON.parse(readFile(path));
  } catch (cause) {
    throw new ConfigError(`CAUSEWAY_CONFIG: cannot read ${path} as JSON`, { cause });
  }
  if (Value.Check(ConfigFileSchema, data)) return data;
  const first = Value.Errors(ConfigFileSchema, data).First();
  throw new ConfigError(`CAUSEWAY_CONFIG: ${path}: ${first?.path}: ${first?.message}`);
}

function pepperSource(
  hex: string | undefined,
  file: string | undefined,
  fallback: PepperSource,
): PepperSource {
  if (hex && file) throw new ConfigError("Set KEY_PEPPER or KEY_PEPPER_FILE, not both");
  if (hex && !/^[0-9a-f]{64}$/.test(hex)) {
    throw new ConfigError("KEY_PEPPER must be 64 hex digits in lower case");
  }
  if (!hex && !file) return fallback;
  return { ...(hex && { hex }), ...(file && { file }) };
}

function parseInteger(
  env: Environment,
  name: string,
  fallback: number,
  min: number,
  max: number,
): number {
  const text = env[name];
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new ConfigError(`${name} must be an integer from ${min} to ${max}`);
  }
  return value;
}

function parseWorkers(env: Environment, areSharing: boolean): number {
  const workers = parseInteger(env, "WORKERS", 1, 1, MAX_WORKERS);
  if (workers > 1 && !areSharing) {
    throw new ConfigError("WORKERS needs DATABASE_URL=postgres://… and REDIS_URL=redis://…");
  }
  if (workers > 1 && env["PORT"] === "0") throw new ConfigError("WORKERS needs a fixed PORT");
  return workers;
}

function splitList(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function parseUrls(name: string, text: string): { url: string }[] {
  return splitList(text).map((url) => {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new ConfigError(`${name} must be a comma-separated list of http(s) URLs`);
    }
    return { url };
  });
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
