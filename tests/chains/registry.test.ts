import { describe, expect, test } from "bun:test";
import { getAddress } from "viem";
import { createRegistry, findToken } from "../../src/chains/index.ts";

const registry = createRegistry({ useDefaultUpstreams: true, override: {} });

describe("the network registry", () => {
  test("finds a network by id, name, alias and id in text", () => {
    expect(registry.byId(5042002)?.name).toBe("Arc_Testnet");
    for (const name of ["Arc_Testnet", "arc-testnet", "ARC_TESTNET", "5042002"]) {
      expect(registry.byName(name)?.id).toBe(5042002);
    }
    expect(registry.byName("Solana_Devnet")?.kind).toBe("solana");
    expect(registry.byName("nowhere")).toBeUndefined();
  });

  test("no two networks share a name", () => {
    const names = registry.all.flatMap((chain) => [chain.name, ...chain.aliases]);
    expect(new Set(names.map((name) => registry.byName(name)?.id)).size).toBe(registry.all.length);
  });

  test("every EVM address of the built-in data is well formed", () => {
    for (const chain of registry.all.filter(({ kind }) => kind === "evm")) {
      const addresses = [
        ...chain.tokens.map((token) => token.address),
        ...chain.venues.flatMap((venue) => [venue.factory, venue.router, venue.quoter]),
      ];
      for (const address of addresses) expect(() => getAddress(address)).not.toThrow();
    }
  });

  test("a token is found by symbol or address in any casing", () => {
    const arc = registry.byId(5042)!;
    const eurc = arc.tokens.find((token) => token.symbol === "EURC")!;
    expect(findToken(arc, "eurc")).toEqual(eurc);
    expect(findToken(arc, eurc.address.toLowerCase())).toEqual(eurc);
    expect(findToken(arc, "DOGE")).toBeUndefined();
  });

  test("an override replaces members and keeps the rest; default nodes can be switched off", () => {
    const local = createRegistry({
      useDefaultUpstreams: false,
      override: { "5042": { upstreams: [{ url: "http://127.0.0.1:1" }] } },
    });
    expect(local.byId(5042)?.upstreams).toEqual([{ url: "http://127.0.0.1:1" }]);
    expect(local.byId(5042)?.name).toBe("Arc");
    expect(local.byId(1)?.upstreams).toEqual([]);
  });

  test("an incomplete new network is refused by name", () => {
    expect(() =>
      createRegistry({ useDefaultUpstreams: true, override: { "999": { name: "X" } } }),
    ).toThrow("network 999");
  });
});
