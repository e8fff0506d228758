import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/config/index.ts";

describe("loadConfig", () => {
  test("has a default for everything", () => {
    const config = loadConfig({});
    expect(config.listen).toMatchObject({ host: "127.0.0.1", port: 3000, tls: undefined });
    expect(config.access.defaultWindowLimit).toBe(600);
    expect(config.database.url).toBe("file:.data/causeway.db");
  });

  test("UPSTREAMS_<chainId> replaces a network's nodes", () => {
    const config = loadConfig({ UPSTREAMS_1: "http://a.example, https://b.example/key" });
    expect(config.networks.override["1"]?.upstreams).toEqual([
      { url: "http://a.example" },
      { url: "https://b.example/key" },
    ]);
  });

  test("is frozen to the last member", () => {
    const config = loadConfig({ UPSTREAMS_1: "http://a.example" });
    expect(Object.isFrozen(config.networks.override["1"]?.upstreams?.[0])).toBe(true);
  });

  test.each([
    [{ PORT: "70000" }, "PORT"],
    [{ PORT: "3000x" }, "PORT"],
    [{ TLS_CERT: "cert.pem" }, "TLS_KEY"],
    [{ UPSTREAMS_1: "ftp://x" }, "UPSTREAMS_1"],
  ])("refuses %p and names the variable", (env, name) => {
    expect(() => loadConfig(env)).toThrow(name);
  });

  test.each([
    ["not json", "cannot read"],
    ['{"swap":{"platformFeeBps":101}}', "/swap/platformFeeBps"],
    ['{"unknown":1}', "/unknown"],
  ])("refuses the config file %p", (text, message) => {
    expect(() => loadConfig({ CAUSEWAY_CONFIG: "c.json" }, () => text)).toThrow(message);
  });
});
