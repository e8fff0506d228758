import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { parseSiweMessage } from "viem/siwe";
import { ADMIN_TOKEN, startConsoleService } from "./service.ts";

const wallet = () => privateKeyToAccount(generatePrivateKey());
const session = { method: "GET", path: "/session" } as const;

interface Challenge {
  readonly nonce: string;
  readonly message: string;
}

describe("signing in with a wallet", () => {
  test("makes an account once, and a session that says whose it is", async () => {
    await using service = await startConsoleService();
    const [account, visitor] = [wallet(), service.visitor()];
    const first = await visitor.signIn(account);
    expect(first).toMatchObject({ status: 200, data: { role: "developer" } });
    expect(first.data).toMatchObject({ account: { address: account.address, chainId: null } });
    const again = await service.visitor().signIn(account);
    const idOf = ({ data }: typeof first) => (data as { account: { id: string } }).account.id;
    expect(idOf(again)).toBe(idOf(first));
    expect((await visitor.ask("GET", "/session")).data).toMatchObject({ role: "developer" });
  });

  test("is asked for in the service's own words: domain, chain, nonce and an end", async () => {
    await using service = await startConsoleService();
    const { address } = wallet();
    const body = { address: address.toLowerCase(), chainId: 84532 };
    const { data } = await service.visitor().ask<Challenge>("POST", "/sign-in/challenge", body);
    const parsed = parseSiweMessage(data.message);
    expect(parsed).toMatchObject({
      address,
      chainId: 84532,
      domain: new URL(service.origin).host,
      nonce: data.nonce,
      uri: `${service.origin}/console`,
      version: "1",
    });
    const lifeMs = (parsed.expirationTime?.getTime() ?? 0) - (parsed.issuedAt?.getTime() ?? 0);
    expect(lifeMs).toBe(300_000);
  });

  test("fails with another's signature, a used message, and a message nobody gave out", async () => {
    await using service = await startConsoleService();
    const [account, stranger, visitor] = [wallet(), wallet(), service.visitor()];
    const challenge = async () => {
      const body = { address: account.address, chainId: 1 };
      return (await visitor.ask<Challenge>("POST", "/sign-in/challenge", body)).data;
    };
    const enter = (nonce: string, signature: string) =>
      visitor.ask("POST", "/sign-in/wallet", { nonce, signature });

    const first = await challenge();
    const foreign = await stranger.signMessage({ message: first.message });
    expect(await enter(first.nonce, foreign)).toMatchObject({
      status: 401,
      code: "SIGN_IN_FAILED",
    });
    const own = await account.signMessage({ message: first.message });
    expect((await enter(first.nonce, own)).code).toBe("SIGN_IN_FAILED");
    expect((await enter("nonsense", own)).code).toBe("SIGN_IN_FAILED");
    expect((await enter((await challenge()).nonce, "no hex")).code).toBe("SIGN_IN_FAILED");
    expect(visitor.cookie).toBe("");
    expect((await visitor.ask("GET", "/keys")).code).toBe("SIGNED_OUT");
  });

  test("is not offered to a host that only pretends to be this one", async () => {
    await using service = await startConsoleService();
    const body = { address: wallet().address, chainId: 1 };
    const headers = {
      host: "evil.example",
      origin: "http://evil.example",
      "x-causeway-console": "1",
    };
    const answer = await service.visitor().ask("POST", "/sign-in/challenge", body, headers);
    expect(answer).toMatchObject({ status: 400, code: "WALLET_SIGN_IN_UNAVAILABLE" });
  });

  test("names the configured origin, whatever the request says", async () => {
    const publicUrl = "https://api.example.com";
    await using service = await startConsoleService({ signUp: "open", publicUrl });
    const body = { address: wallet().address, chainId: 1 };
    const headers = { origin: publicUrl, "x-causeway-console": "1" };
    const answer = await service
      .visitor()
      .ask<Challenge>("POST", "/sign-in/challenge", body, headers);
    expect(parseSiweMessage(answer.data.message).domain).toBe("api.example.com");
  });
});

describe("a session", () => {
  test("is a cookie scripts cannot read, kept from other sites, and secure over https", async () => {
    await using service = await startConsoleService({}, { TRUSTED_PROXIES: "127.0.0.1" });
    const plain = await service.visitor().signInAsOperator();
    const cookie = plain.headers.get("set-cookie");
    expect(cookie).toMatch(/^causeway_session=[\w-]+\.[\w-]+; /);
    expect(cookie).toContain("Path=/; Max-Age=43200; HttpOnly; SameSite=Strict");
    expect(cookie).not.toContain("Secure");

    const proxied = { "x-forwarded-proto": "https", "x-causeway-console": "1" };
    const origin = service.origin.replace("http:", "https:");
    const visitor = service.visitor();
    const secure = await visitor.ask(
      "POST",
      "/sign-in/operator",
      { token: ADMIN_TOKEN },
      { ...proxied, origin },
    );
    expect(secure.headers.get("set-cookie")).toMatch(/^__Host-causeway_session=.*; Secure$/);
    expect((await visitor.ask("GET", "/audit", undefined, proxied)).status).toBe(200);
    expect((await visitor.ask("GET", "/audit")).code).toBe("SIGNED_OUT");
  });

  test("ends for good with signing out, also for who kept the cookie", async () => {
    await using service = await startConsoleService();
    const visitor = service.visitor();
    await visitor.signIn(wallet());
    const kept = service.visitor();
    kept.cookie = visitor.cookie;
    expect((await kept.ask("GET", "/keys")).status).toBe(200);
    await visitor.ask("POST", "/sign-out");
    expect(visitor.cookie).toBe("causeway_session=");
    expect((await kept.ask("GET", "/keys")).code).toBe("SIGNED_OUT");
  });

  test("cannot be made up or altered", async () => {
    await using service = await startConsoleService();
    const visitor = service.visitor();
    await visitor.signIn(wallet());
    const [name = "", value = ""] = visitor.cookie.split("=");
    const [id = "", signature = ""] = value.split(".");
    const altered = [
      `${id}.`,
      `.${signature}`,
      `${id}x.${signature}`,
      `${id}.${signature.replace(/^./, (first) => (first === "A" ? "B" : "A"))}`,
      id,
      "",
    ];
    for (const one of altered) {
      visitor.cookie = `${name}=${one}`;
      expect((await visitor.ask("GET", "/keys")).code).toBe("SIGNED_OUT");
    }
  });

  test("of the operator ends when the admin token changes", async () => {
    const directory = mkdtempSync(join(tmpdir(), "causeway-test-"));
    const env = { DATABASE_URL: `file:${join(directory, "causeway.db")}` };
    try {
      let cookie = "";
      {
        await using service = await startConsoleService({}, env);
        const visitor = service.visitor();
        await visitor.signInAsOperator();
        ({ cookie } = visitor);
      }
      const audit = async (token: string) => {
        await using service = await startConsoleService({}, { ...env, ADMIN_TOKEN: token });
        const visitor = service.visitor();
        visitor.cookie = cookie;
        return (await visitor.ask("GET", "/audit")).status;
      };
      expect(await audit(ADMIN_TOKEN)).toBe(200);
      expect(await audit("another-token")).toBe(401);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

describe("a request that changes something", () => {
  test.each<[string, (origin: string) => Record<string, string>]>([
    ["another site's page", () => ({ origin: "https://evil.example", "x-causeway-console": "1" })],
    ["a page that names no origin", () => ({ "x-causeway-console": "1" })],
    ["a form of this origin", (origin) => ({ origin })],
    [
      "a page of another site on the same machine",
      (origin) => ({ origin, "x-causeway-console": "1", "sec-fetch-site": "same-site" }),
    ],
  ])("is refused from %s", async (_, headersOf) => {
    await using service = await startConsoleService();
    const visitor = service.visitor();
    await visitor.signIn(wallet());
    const body = { environment: "test", scopes: ["read"] };
    const headers = headersOf(service.origin);
    expect(await visitor.ask("POST", "/keys", body, headers)).toMatchObject({
      status: 403,
      code: "FOREIGN_ORIGIN",
    });
    const token = { token: ADMIN_TOKEN };
    expect((await visitor.ask("POST", "/sign-in/operator", token, headers)).code).toBe(
      "FOREIGN_ORIGIN",
    );
    expect((await visitor.ask(session.method, session.path)).data).toMatchObject({
      role: "developer",
    });
    expect((await visitor.ask<unknown[]>("GET", "/keys")).data).toEqual([]);
  });
});

describe("attempts are limited", () => {
  test("by address: of 100 wrong tokens at once 10 are looked at, then even the right one waits", async () => {
    await using service = await startConsoleService();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => service.visitor().signInAsOperator("wrong")),
    );
    expect(answers.filter(({ code }) => code === "INVALID_ADMIN_TOKEN")).toHaveLength(10);
    expect(answers.filter(({ code }) => code === "TOO_MANY_SIGN_INS")).toHaveLength(90);
    const right = await service.visitor().signInAsOperator();
    expect(right).toMatchObject({ status: 429, code: "TOO_MANY_SIGN_INS" });
    expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("by wallet, from however many addresses", async () => {
    await using service = await startConsoleService(
      { signUp: "open" },
      { TRUSTED_PROXIES: "127.0.0.1" },
    );
    const [account, stranger, visitor] = [wallet(), wallet(), service.visitor()];
    const from = (index: number) => ({
      origin: service.origin,
      "x-causeway-console": "1",
      "x-forwarded-for": `2001:db8:0:${index.toString(16)}::1`,
    });
    const attempt = async (index: number) => {
      const body = { address: account.address, chainId: 1 };
      const { data } = await visitor.ask<Challenge>(
        "POST",
        "/sign-in/challenge",
        body,
        from(index),
      );
      const signature = await stranger.signMessage({ message: data.message });
      const { nonce } = data;
      return (await visitor.ask("POST", "/sign-in/wallet", { nonce, signature }, from(index))).code;
    };
    const codes: (string | null)[] = [];
    for (let index = 0; index < 31; index++) codes.push(await attempt(index));
    expect(codes.slice(0, 30).every((code) => code === "SIGN_IN_FAILED")).toBe(true);
    expect(codes[30]).toBe("TOO_MANY_SIGN_INS");
  });

  test("but not when they succeed", async () => {
    await using service = await startConsoleService();
    for (let turn = 0; turn < 15; turn++) {
      expect((await service.visitor().signInAsOperator()).status).toBe(200);
    }
  });
});
