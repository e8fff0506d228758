import { describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOperatorKeys } from "../../src/bridge/operator.ts";
import { bridgeCommand, BridgeUsageError } from "../../src/bridge/index.ts";
import { ConfigError } from "../../src/config/index.ts";
import { openDatabase } from "../../src/db/index.ts";
import { accounts, temporaryDirectory } from "../support/sandbox.ts";

function recorder() {
  const lines: string[] = [];
  const note = (fields: object, message: string) => {
    lines.push(JSON.stringify(fields) + message);
  };
  return { lines, debug: note, info: note, warn: note, error: note };
}

describe("operator keys", () => {
  const { privateKey, address } = accounts.operator;
  const { secretKey } = accounts.solana.operator;
  const file = join(temporaryDirectory(), "key");
  const read = (text: string, mode = 0o600) => {
    writeFileSync(file, text);
    chmodSync(file, mode);
    const log = recorder();
    return { keys: readOperatorKeys(file, log), log };
  };

  test.each([
    privateKey,
    `${privateKey.slice(2)}\n`,
    JSON.stringify({ evm: privateKey }),
    JSON.stringify({ evm: privateKey, solana: secretKey }),
  ])("are read from %#", (text) => {
    const { keys, log } = read(text);
    expect(keys?.evm.address).toBe(address);
    expect(keys?.solana?.length).toBe(text.includes("solana") ? 64 : undefined);
    expect(log.lines).toEqual([]);
  });

  test.each(["", "0x12", "{", "{}", `${privateKey}00`, `0x${"00".repeat(32)}`, '{"evm":5}'])(
    "are not read from %p, and the error does not show it",
    (text) => {
      expect(() => read(text)).toThrow(ConfigError);
      expect(() => read(text)).not.toThrow(/0x/);
    },
  );

  test("others may read: a warning without the key; no file configured: a warning", () => {
    const { log } = read(privateKey, 0o644);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain("0600");
    expect(log.lines[0]).not.toContain(privateKey.slice(2, 20));
    const none = recorder();
    expect(readOperatorKeys(undefined, none)).toBeUndefined();
    expect(none.lines[0]).toContain("no operator key");
    expect(() => readOperatorKeys(join(file, "nowhere"), none)).toThrow(ConfigError);
  });
});

const run = async (...args: string[]) => {
  const printed: string[] = [];
  const database = openDatabase(":memory:");
  await bridgeCommand(
    args,
    async () => ({ store: database.bridge, close: database.close }),
    (text) => printed.push(text),
  );
  return printed.join("\n");
};

describe("bridge command", () => {
  test("lists, and says what is wrong with the command line", async () => {
    expect(await run("list")).toBe("no transfers");
    expect(await run("list", "--json", "--state", "burned")).toBe("[]");
    expect(await run("--help")).toContain("bridge resume");
    for (const args of [
      ["nonsense"],
      ["show"],
      ["list", "--state", "gone"],
      ["list", "--limit", "0"],
      ["list", "--what"],
    ]) {
      await expect(run(...args)).rejects.toBeInstanceOf(BridgeUsageError);
    }
    await expect(run("show", "0x1")).rejects.toThrow("No transfer");
  });
});
