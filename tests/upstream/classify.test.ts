import { describe, expect, test } from "bun:test";
import { textOf } from "../../src/lib/jsonSpan.ts";
import { classifyAnswer, classifyFault, parseRetryAfter } from "../../src/upstream/classify.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:00Z");

function classify(body: string, status = 200, retryAfter: string | null = null) {
  return classifyAnswer({ status, retryAfter, bytes: new TextEncoder().encode(body) }, 7, {
    now: () => NOW_MS,
  });
}

const error = (code: number, message: string, data?: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id: 7, error: { code, message, data } });

/** The verdict in short: its kind, and its reason where it has one. */
function verdictOf(body: string, status = 200, retryAfter: string | null = null): string {
  const verdict = classify(body, status, retryAfter);
  return "reason" in verdict ? `${verdict.kind} ${verdict.reason}` : verdict.kind;
}

describe("answers for the caller", () => {
  test.each([
    ["a result", '{"jsonrpc":"2.0","id":7,"result":"0x1"}'],
    ["a null result", '{"jsonrpc":"2.0","id":7,"result":null}'],
    ["error:null beside a result", '{"id":7,"result":1,"error":null}'],
    ["no jsonrpc member", '{"id":7,"result":1}'],
    ["no id", '{"jsonrpc":"2.0","result":1}'],
    ["the id as text", '{"jsonrpc":"2.0","id":"7","result":1}'],
    ["a byte order mark", '\uFEFF{"jsonrpc":"2.0","id":7,"result":1}'],
    ["a null id on an error", '{"id":null,"error":{"code":3,"message":"execution reverted"}}'],
    ["a revert with data", error(3, "execution reverted", "0x08c379a0")],
    ["a revert under -32000", error(-32_000, "execution reverted: too late")],
    ["a revert whose text speaks of limits", error(3, "execution reverted: rate limit exceeded")],
    ["a revert under -32603", error(-32_603, "VM Exception: revert", "0x")],
    ["insufficient funds", error(-32_000, "insufficient funds for gas * price + value")],
    ["bad parameters", error(-32_602, "invalid argument 0: hex string without 0x prefix")],
    ["nonce too low", error(-32_003, "nonce too low")],
    ["an error nobody listed", error(-32_099, "something new")],
  ])("%s", (_, body) => {
    expect(verdictOf(body)).toBe("deliver");
  });

  test("also when a revert comes with HTTP 500 or 400", () => {
    expect(verdictOf(error(3, "execution reverted", "0x"), 500)).toBe("deliver");
    expect(verdictOf(error(-32_602, "invalid params"), 400)).toBe("deliver");
  });

  test("both result and error: the error wins", () => {
    const verdict = classify(
      '{"id":7,"result":1,"error":{"code":3,"message":"execution reverted"}}',
    );
    expect(verdict.kind === "deliver" && verdict.answer.error).toBeDefined();
  });

  test("spans point into the object without what surrounds it", () => {
    const verdict = classify('\uFEFF \n{"result": [1, 2] , "id" : 7}\n');
    if (verdict.kind !== "deliver") throw new Error(verdict.kind);
    const { bytes, id, result } = verdict.answer;
    expect(textOf(bytes, { start: 0, end: bytes.length })).toBe('{"result": [1, 2] , "id" : 7}');
    expect(textOf(bytes, id!)).toBe("7");
    expect(textOf(bytes, result!)).toBe("[1, 2]");
  });
});

describe("rate limits, however they are dressed", () => {
  test.each([
    ["HTTP 429", "slow down", 429],
    ["HTTP 429 with a result-like body", '{"id":7,"result":1}', 429],
    ["HTTP 402", "", 402],
    ["-32005", error(-32_005, "daily request count exceeded, request rate limited"), 200],
    ["-32007", error(-32_007, "50/second request limit reached"), 200],
    ["-32011", error(-32_011, "request limit reached"), 200],
    ["-32012", error(-32_012, "credits limited to 6000/sec"), 200],
    ["-32029", error(-32_029, "exceeded"), 200],
    ["429 in HTTP 200", error(429, "exceeded its compute units per second capacity"), 200],
    ["15", error(15, "Too many request, try again later: rate limit exceeded"), 200],
    ["text only", error(-32_000, "Your app has exceeded its Compute Units capacity"), 200],
    ["upper case", error(-32_000, "TOO MANY REQUESTS"), 200],
    ["quota under 403", error(-32_000, "monthly quota reached"), 403],
  ])("%s", (_, body, status) => {
    expect(verdictOf(body, status)).toBe("limited");
  });

  test("a result that is too large is not about pace", () => {
    expect(verdictOf(error(-32_005, "query returned more than 10000 results"))).not.toBe("limited");
  });

  test("Retry-After is understood in seconds and as a date", () => {
    expect(classify("", 429, "3")).toEqual({ kind: "limited", retryAfterMs: 3_000 });
    const date = "Thu, 01 Jan 2026 00:00:05 GMT";
    expect(parseRetryAfter({ retryAfter: date }, NOW_MS)).toBe(5_000);
    expect(parseRetryAfter({ retryAfter: "soon" }, NOW_MS)).toBeUndefined();
  });
});

function countsAgainst(body: string): boolean {
  const verdict = classify(body);
  return verdict.kind === "retry" && verdict.fault;
}

describe("answers to ask another node about", () => {
  test.each([
    ["HTML with 502", "<html>Bad Gateway</html>", 502, "retry server-error"],
    ["HTML with 200", "<html>hello</html>", 200, "retry malformed"],
    ["nothing", "", 200, "retry malformed"],
    ["null", "null", 200, "retry malformed"],
    ["an array", '[{"id":7,"result":1}]', 200, "retry malformed"],
    ["a cut object", '{"jsonrpc":"2.0","id":7,"result":"0x', 200, "retry malformed"],
    ["trailing bytes", '{"id":7,"result":1}x', 200, "retry malformed"],
    ["neither result nor error", '{"jsonrpc":"2.0","id":7}', 200, "retry malformed"],
    ["only error:null", '{"id":7,"error":null}', 200, "retry malformed"],
    ["another id", '{"jsonrpc":"2.0","id":8,"result":1}', 200, "retry wrong-id"],
    ["a null id on a result", '{"jsonrpc":"2.0","id":null,"result":1}', 200, "retry wrong-id"],
    ["a result with HTTP 500", '{"id":7,"result":1}', 500, "retry server-error"],
    ["an internal error", error(-32_603, "Internal error"), 200, "retry node-error"],
    ["an error as text", '{"id":7,"error":"boom"}', 200, "retry node-error"],
    ["an unlisted error with HTTP 500", error(-32_099, "x"), 500, "retry node-error"],
    ["a missing header", error(-32_000, "header not found"), 200, "retry missing-data"],
    ["a pruned state", error(-32_000, "missing trie node ab"), 200, "retry missing-data"],
    ["an unknown method", error(-32_601, "Method not found"), 200, "retry unsupported-method"],
    ["a plan without it", error(-32_000, "upgrade your plan"), 200, "retry unsupported-method"],
  ])("%s", (_, body, status, expected) => {
    expect(verdictOf(body, status)).toBe(expected);
  });

  test("missing data and methods do not count against the node; trouble does", () => {
    expect(countsAgainst(error(-32_601, "Method not found"))).toBe(false);
    expect(countsAgainst(error(-32_000, "header not found"))).toBe(false);
    expect(countsAgainst(error(-32_603, "Internal error"))).toBe(true);
  });

  test("the node's own words are kept in case nobody does better", () => {
    const verdict = classify(error(-32_601, "Method not found"));
    expect(verdict.kind === "retry" && verdict.answer).toBeDefined();
  });
});

describe("nodes that refuse us", () => {
  test.each([401, 403, 404, 405, 410])("HTTP %d", (status) => {
    expect(verdictOf("<html></html>", status)).toBe("reject refused");
  });

  test("a body about the operator's credentials is never passed on", () => {
    expect(verdictOf(error(-32_000, "invalid api key abc123"), 401)).toBe("reject refused");
    expect(verdictOf(error(-32_600, "Must be authenticated!"), 403)).toBe("reject refused");
  });
});

test("transport faults", () => {
  expect(classifyFault("unreachable")).toEqual({
    kind: "retry",
    reason: "unreachable",
    fault: true,
  });
  expect(classifyFault("timeout")).toMatchObject({ kind: "retry", reason: "timeout", fault: true });
  expect(classifyFault("redirect")).toEqual({ kind: "reject", reason: "redirect" });
  expect(classifyFault("aborted")).toEqual({ kind: "aborted" });
  expect(classifyFault("too-large")).toMatchObject({ kind: "retry", fault: false });
});
