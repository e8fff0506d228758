import { readFileSync, statSync } from "node:fs";
import { type Hex, isHex, size } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { ConfigError } from "../config/index.ts";
import { decodeBase58 } from "../lib/base58.ts";
import type { Logger } from "../telemetry/index.ts";

/** The operator's wallets. Secret bytes stay in here and are never logged. */
export interface OperatorKeys {
  readonly evm: PrivateKeyAccount;
  /** 64 bytes: seed and public key, as Solana's tools write them. */
  readonly solana: Uint8Array | undefined;
}

/**
 * Reads the operator's keys from a file: one hex private key, or JSON
 * `{ "evm": "0x…", "solana": "<base58>" | [64 numbers] }`, of which `solana` may be left out.
 * @returns undefined when no file is configured
 * @throws ConfigError when the file cannot be read or holds no key; never with its content
 */
export function readOperatorKeys(path: string | undefined, log: Logger): OperatorKeys | undefined {
  if (path === undefined) {
    log.warn({}, "no operator key is configured: every bridge request will answer 500");
    return undefined;
  }
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
    if ((statSync(path).mode & 0o077) !== 0) {
      log.warn({ file: path }, "the operator key file can be read by others; set its mode to 0600");
    }
  } catch {
    throw new ConfigError(`OPERATOR_KEY_FILE: cannot read ${path}`);
  }
  return parseKeys(text, path);
}

function parseKeys(text: string, path: string): OperatorKeys {
  const wrong = () => new ConfigError(`OPERATOR_KEY_FILE: ${path} holds no valid key`);
  if (!text.startsWith("{")) return { evm: evmAccount(text, wrong), solana: undefined };
  let data: { evm?: unknown; solana?: unknown };
  try {
    data = JSON.parse(text);
  } catch {
    throw wrong();
  }
  const { evm, solana } = data;
  return {
    evm: evmAccount(evm, wrong),
    solana: solana === undefined ? undefined : solanaKey(solana, wrong),
  };
}

function evmAccount(key: unknown, wrong: () => ConfigError): PrivateKeyAccount {
  const hex = typeof key === "string" ? (key.startsWith("0x") ? key : `0x${key}`) : "";
  if (!isHex(hex) || size(hex) !== 32) throw wrong();
  try {
    return privateKeyToAccount(hex as Hex);
  } catch {
    throw wrong();
  }
}

function solanaKey(key: unknown, wrong: () => ConfigError): Uint8Array {
  const bytes =
    typeof key === "string"
      ? decodeBase58(key)
      : Array.isArray(key) && key.every((n) => Number.isInteger(n) && n >= 0 && n < 256)
        ? Uint8Array.from(key as number[])
        : undefined;
  if (bytes?.length !== 64) throw wrong();
  return bytes;
}
