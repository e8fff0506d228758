import { describe, expect, test } from "bun:test";
import { readCall } from "../../../src/upstream/reads/blockRefs.ts";
import { canonicalKey } from "../../../src/upstream/reads/canonical.ts";

const HASH = `0x${"ab".repeat(32)}`;
const ADDRESS = `0x${"cd".repeat(20)}`;
const refs = (method: string, params?: readonly unknown[]) =>
  readCall({ method, params: params && JSON.stringify(params) }).refs;
const key = (method: string, params: string) => canonicalKey(readCall({ method, params }));
const number = (value: number) => ({ kind: "block", ref: { kind: "number", number: value } });
const latest = { kind: "tip", isPending: false };

const call = (to: string, data: string, block: string) => JSON.stringify([{ to, data }, block]);

describe("the block a call is about", () => {
  const cases: [string, string, readonly unknown[], unknown][] = [
    ["a number", "eth_getBalance", [ADDRESS, "0x10"], number(16)],
    ["with leading zeros", "eth_getBalance", [ADDRESS, "0x0000010"], number(16)],
    ["zero", "eth_getBlockByNumber", ["0x0", false], number(0)],
    ["an object with a number (EIP-1898)", "eth_call", [{}, { blockNumber: "0x1" }], number(1)],
    [
      "an object with a hash",
      "eth_call",
      [{}, { blockHash: HASH, requireCanonical: true }],
      { kind: "block", ref: { kind: "hash" } },
    ],
    ["a hash as it is", "eth_getBlockReceipts", [HASH], { kind: "block", ref: { kind: "hash" } }],
    ["latest", "eth_call", [{}, "latest"], { kind: "block", ref: latest }],
    [
      "pending",
      "eth_call",
      [{}, "pending"],
      { kind: "block", ref: { kind: "tip", isPending: true } },
    ],
    ["left out", "eth_call", [{}], { kind: "block", ref: latest }],
    ["null", "eth_call", [{}, null], { kind: "block", ref: latest }],
    ["safe", "eth_call", [{}, "safe"], { kind: "block", ref: { kind: "settled" } }],
    ["earliest", "eth_call", [{}, "earliest"], { kind: "block", ref: { kind: "earliest" } }],
    ["the third param", "eth_getStorageAt", [ADDRESS, "0x0", "0x2"], number(2)],
    ["the tip, unsaid", "eth_gasPrice", [], { kind: "block", ref: latest }],
    [
      "a transaction",
      "eth_getTransactionReceipt",
      [HASH.toUpperCase().replace("0X", "0x")],
      { kind: "hash", of: "transaction", hash: HASH },
    ],
    [
      "a range",
      "eth_getLogs",
      [{ fromBlock: "0x1", toBlock: "0x02" }],
      { kind: "range", from: { kind: "number", number: 1 }, to: { kind: "number", number: 2 } },
    ],
    [
      "an open range",
      "eth_getLogs",
      [{ fromBlock: "earliest" }],
      { kind: "range", from: { kind: "earliest" }, to: latest },
    ],
    [
      "a filter of one block",
      "eth_getLogs",
      [{ blockHash: HASH }],
      { kind: "block", ref: { kind: "hash" } },
    ],
    ["none", "eth_chainId", [], { kind: "constant" }],
  ];
  test.each(cases)("%s", (_, method, params, expected) => {
    expect(refs(method, params)).toEqual(expected as ReturnType<typeof refs>);
  });

  const unknown: [string, string, readonly unknown[]][] = [
    ["a method that is not known", "eth_somethingNew", ["0x1"]],
    ["a number in decimal", "eth_getBalance", [ADDRESS, "16"]],
    ["a JSON number", "eth_getBalance", [ADDRESS, 16]],
    ["a number beyond 2^53", "eth_getBalance", [ADDRESS, "0x20000000000000"]],
    ["a tag that does not exist", "eth_getBalance", [ADDRESS, "newest"]],
    ["number and hash at once", "eth_call", [{}, { blockNumber: "0x1", blockHash: HASH }]],
    ["a hash and a range at once", "eth_getLogs", [{ blockHash: HASH, fromBlock: "0x1" }]],
    ["a filter that is none", "eth_getLogs", ["0x1"]],
    ["a short hash", "eth_getTransactionByHash", ["0xabcd"]],
  ];
  test.each(unknown)("nothing is assumed of %s", (_, method, params) => {
    expect(refs(method, params)).toEqual({ kind: "unknown" });
  });
});

describe("calls that ask the same", () => {
  test("have one key, whatever the case of addresses, zeros and spaces", () => {
    const one = key("eth_call", call(ADDRESS, "0xAb", "0x0a"));
    expect(key("eth_call", call(ADDRESS.toUpperCase().replace("0X", "0x"), "0xAb", "0xA"))).toBe(
      one,
    );
    expect(key("eth_call", call(ADDRESS, "0xAb", "0x0a").replaceAll(":", " : "))).toBe(one);
    const zeros = `0x${"0".repeat(37)}abc`;
    const other = key("eth_getBalance", JSON.stringify([zeros, "0x0a"]));
    expect(key("eth_getBalance", JSON.stringify([zeros.replace("abc", "ABC"), "0xa"]))).toBe(other);
  });

  test("others have another: data, block, method, numbers beyond 2^53", () => {
    const keys = [
      key("eth_call", call(ADDRESS, "0xab", "0xa")),
      key("eth_call", call(ADDRESS, "0xAB", "0xa")),
      key("eth_call", call(ADDRESS, "0xab", "0xb")),
      key("eth_estimateGas", call(ADDRESS, "0xab", "0xa")),
      key("eth_feeHistory", '[9007199254740993, "latest", []]'),
      key("eth_feeHistory", '[9007199254740992, "latest", []]'),
      key("eth_newThing", '["0xAB"]'),
      key("eth_newThing", '["0xab"]'),
      key("eth_newThing", '[ "0xab"]'),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("long ones have a short key", () => {
    const long = key("eth_call", call(ADDRESS, `0x${"ab".repeat(100_000)}`, "latest"));
    expect(long.length).toBeLessThanOrEqual(256);
    expect(long).not.toBe(key("eth_call", call(ADDRESS, `0x${"ab".repeat(99_999)}ac`, "latest")));
  });
});
