import { describe, expect, test } from "bun:test";
import { ApiError } from "../../src/lib/errors.ts";
import { connectHttp } from "../../src/upstream/http/connect.ts";
import { AnswerMemory } from "../../src/upstream/memory.ts";
import { createUrlGuard, type Resolve } from "../../src/upstream/guard.ts";
import { send } from "./send.ts";
import { corpusNames, refusedUrls } from "./guard.corpus.ts";

const resolve: Resolve = (name) => {
  const found = corpusNames[name.replace(/\.$/, "")];
  return found ? Promise.resolve(found) : Promise.reject(new Error("ENOTFOUND"));
};
const guard = createUrlGuard({ allowedOrigins: [], configuredUrls: [], resolve });

async function outcome(url: string, checker = guard): Promise<string> {
  try {
    const target = await checker.check(url);
    return `passed to ${target.address ?? target.url.hostname}`;
  } catch (error) {
    return error instanceof ApiError ? error.code : `threw ${String(error)}`;
  }
}

test("the corpus of hostile URLs has at least 150 forms and none of them passes, each in under 50 ms", async () => {
  expect(refusedUrls.length).toBeGreaterThanOrEqual(150);
  const wrong: string[] = [];
  let slowestMs = 0;
  for (const url of refusedUrls) {
    const started = performance.now();
    const got = await outcome(url);
    slowestMs = Math.max(slowestMs, performance.now() - started);
    if (got !== "RPC_URL_REFUSED" && got !== "RPC_URL_UNREACHABLE") wrong.push(`${url}: ${got}`);
  }
  expect(wrong).toEqual([]);
  expect(slowestMs).toBeLessThan(50);
});

describe("public URLs", () => {
  test("a name is pinned to its checked address and keeps its name for Host and TLS", async () => {
    const target = await guard.check("https://Public.Example.com/v1/key?x=1#part");
    expect(target.url.href).toBe("https://public.example.com/v1/key?x=1");
    expect(target.address).toBe("93.184.215.14");
  });

  test("a node's port is kept, and an IPv6 address is pinned as written by the resolver", async () => {
    const target = await guard.check("https://public6.example.com:8545/");
    expect(target.url.host).toBe("public6.example.com:8545");
    expect(target.address).toBe("2606:2800:21f:cb07:6820:80da:af6b:8b2c");
  });

  test("a public IP address is connected to as it stands", async () => {
    const target = await guard.check("https://93.184.215.14:8899/");
    expect(target.url.href).toBe("https://93.184.215.14:8899/");
    expect(target.address).toBeUndefined();
  });

  test("a trailing dot is not part of the name the certificate must carry", async () => {
    expect((await guard.check("https://public.example.com./")).url.host).toBe("public.example.com");
  });
});

describe("allowed origins and configured URLs", () => {
  const trusting = createUrlGuard({
    allowedOrigins: ["http://127.0.0.1:8545", "http://loopback.example.com:9000"],
    configuredUrls: ["http://10.0.0.5:8545/secret", "https://ten.example.com:4433"],
    resolve,
  });

  test("an allowed origin may be plain http, private and on any port, whatever the path", async () => {
    expect(await outcome("http://127.0.0.1:8545/a/b", trusting)).toBe("passed to 127.0.0.1");
    expect(await outcome("http://loopback.example.com:9000", trusting)).toBe("passed to 127.0.0.1");
  });

  test("a configured URL passes only when it is named exactly", async () => {
    expect(await outcome("http://10.0.0.5:8545/secret", trusting)).toStartWith("passed");
    expect(await outcome("https://ten.example.com:4433/", trusting)).toStartWith("passed");
    expect(await outcome("http://10.0.0.5:8545/other", trusting)).toBe("RPC_URL_REFUSED");
    expect(await outcome("http://10.0.0.5:8545/", trusting)).toBe("RPC_URL_REFUSED");
  });

  test("neighbours of an allowed origin stay refused", async () => {
    for (const url of [
      "http://127.0.0.1:8546",
      "https://127.0.0.1:8545",
      "http://127.0.0.2:8545",
      "http://localhost:8545",
      "http://user@127.0.0.1:8545",
      "http://127.0.0.1:8545@10.0.0.1",
    ]) {
      expect(`${url} ${await outcome(url, trusting)}`).toBe(`${url} RPC_URL_REFUSED`);
    }
  });
});

describe("names whose answer changes or hides", () => {
  test("rebinding between check and connect has nothing to change: the name is resolved once", async () => {
    const answers = [["93.184.215.14"], ["127.0.0.1"]];
    let lookups = 0;
    const rebinding = createUrlGuard({
      allowedOrigins: [],
      configuredUrls: [],
      resolve: () => Promise.resolve(answers[Math.min(lookups++, 1)] ?? []),
    });
    const first = await rebinding.check("https://rebind.example.com/");
    expect(first.address).toBe("93.184.215.14");
    expect(lookups).toBe(1);
    expect(await outcome("https://rebind.example.com/", rebinding)).toBe("RPC_URL_UNREACHABLE");
  });

  test("a private name and an unknown name answer alike, so internal names cannot be listed", async () => {
    const messages = new Set<string>();
    for (const name of ["ten", "metadata", "nothing", "unknown"]) {
      const error = await guard.check(`https://${name}.example.com/`).catch((cause) => cause);
      messages.add(`${error.code} ${error.message}`);
    }
    expect([...messages]).toEqual(["RPC_URL_UNREACHABLE Failed to reach rpcUrl"]);
  });

  test("no refusal shows an address the caller did not write", async () => {
    for (const [name, addresses] of Object.entries(corpusNames)) {
      if (name.startsWith("public")) continue;
      const error: Error = await guard.check(`https://${name}/`).catch((cause) => cause);
      for (const address of addresses) expect(error.message).not.toContain(address);
    }
  });

  test("a resolver that never answers ends the check within its limit", async () => {
    const silent = createUrlGuard({
      allowedOrigins: [],
      configuredUrls: [],
      resolve: () => new Promise(() => undefined),
      resolveTimeoutMs: 50,
    });
    const started = performance.now();
    expect(await outcome("https://public.example.com/", silent)).toBe("RPC_URL_UNREACHABLE");
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

test("a request to the pinned URL reaches the checked address under the caller's host name", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => new Response(request.headers.get("host")),
  });
  try {
    const origin = `http://loopback.example.com:${server.port}`;
    const local = createUrlGuard({ allowedOrigins: [origin], configuredUrls: [], resolve });
    const target = await local.check(`${origin}/rpc`);
    const connection = connectHttp(target.url, target.address);
    const signal = AbortSignal.timeout(2_000);
    const answer = await send(connection, "{}", {
      signal,
      maxBytes: 1_000,
      memory: new AnswerMemory(1_000),
    });
    expect(new TextDecoder().decode(answer.bytes)).toBe(`loopback.example.com:${server.port}`);
    connection.close();
  } finally {
    await server.stop(true);
  }
});
