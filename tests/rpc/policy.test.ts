import { describe, expect, test } from "bun:test";
import { ConfigError, loadConfig } from "../../src/config/index.ts";
import { createMethodPolicy } from "../../src/rpc/policy.ts";

const policy = (refusedMethods: readonly string[] = [], allowedMethods: readonly string[] = []) =>
  createMethodPolicy({ refusedMethods, allowedMethods });

const load = (rpc: unknown) =>
  loadConfig({ CAUSEWAY_CONFIG: "x.json" }, () => JSON.stringify({ rpc }));

describe("by default", () => {
  const isRefused = policy();
  test.each([
    "personal_unlockAccount",
    "admin_addPeer",
    "miner_start",
    "engine_newPayloadV4",
    "debug_setHead",
    "debug_setGCPercent",
    "eth_sign",
    "eth_signTypedData_v4",
    "eth_signTransaction",
    "eth_sendTransaction",
    "eth_accounts",
    "eth_newFilter",
    "eth_getFilterChanges",
    "anvil_setBalance",
    "hardhat_reset",
    "evm_mine",
    "ganache_setAccountNonce",
    "tenderly_setBalance",
  ])("%s is refused", (method) => expect(isRefused(method)).toBe(true));

  test.each([
    "eth_call",
    "eth_sendRawTransaction",
    "debug_traceTransaction",
    "trace_block",
    "net_version",
    "web3_clientVersion",
    "txpool_content",
    "getBalance",
    "sendTransaction",
    "Admin_addPeer",
    "adminaddPeer",
    "vendor_special",
  ])("%s is served", (method) => expect(isRefused(method)).toBe(false));
});

describe("the operator", () => {
  test("refuses methods and namespaces beside the default", () => {
    const isRefused = policy(["eth_getLogs", "debug_*", "txpool_*"]);
    expect(["eth_getLogs", "debug_traceCall", "txpool_content", "admin_x"].map(isRefused)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(isRefused("eth_getLogsExtra")).toBe(false);
  });

  test("allows what is refused by default, one by one or by namespace", () => {
    const isRefused = policy([], ["eth_accounts", "evm_*"]);
    expect(["eth_accounts", "evm_mine"].map(isRefused)).toEqual([false, false]);
    expect(isRefused("eth_sign")).toBe(true);
  });

  test("has the exact name count more than a pattern, and refusing more than allowing", () => {
    const isRefused = policy(["debug_*", "eth_call"], ["debug_traceCall", "eth_*"]);
    expect(isRefused("debug_traceCall")).toBe(false);
    expect(isRefused("debug_traceBlock")).toBe(true);
    expect(isRefused("eth_call")).toBe(true);
    expect(isRefused("eth_accounts")).toBe(false);
  });

  test("says so in the config file, in names or patterns and nothing else", () => {
    const rpc = { refusedMethods: ["debug_*"], allowedMethods: ["eth_accounts"] };
    expect(load(rpc).rpc).toEqual(rpc);
    expect(load({}).rpc).toEqual({ refusedMethods: [], allowedMethods: [] });
    expect(() => load({ refusedMethods: ["eth *"] })).toThrow(ConfigError);
    expect(() => load({ refusedMethods: [""] })).toThrow(ConfigError);
  });
});
