import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/config/index.ts";

const read = (section: unknown) =>
  loadConfig({ CAUSEWAY_CONFIG: "test.json" }, () => JSON.stringify({ console: section })).console;

describe("the console's section", () => {
  test("is safe when it is left out: sign-up by invitation, no scope that moves funds", () => {
    expect(read({})).toEqual({
      signUp: "invitation",
      publicOrigin: undefined,
      sessionMs: 43_200_000,
      account: { scopes: ["read", "swaps", "quotes"], maxKeys: 10, maxWindowLimit: undefined },
    });
  });

  test("names the origin of the public URL", () => {
    expect(read({ publicUrl: "https://API.example.com:443/" }).publicOrigin).toBe(
      "https://api.example.com",
    );
  });

  test.each([
    { signUp: "everyone" },
    { publicUrl: "https://example.com/console" },
    { publicUrl: "javascript:alert(1)" },
    { account: { scopes: ["admin"] } },
    { account: { scopes: [] } },
    { account: { maxKeys: 0 } },
    { sessionMs: 1 },
    { unknown: 1 },
  ])("refuses %j", (section) => {
    expect(() => read(section)).toThrow(/\/console/);
  });
});
