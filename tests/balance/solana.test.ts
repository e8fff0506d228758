import { afterAll, describe, expect, test } from "bun:test";
import { balanceApp, type ScriptedMethod, startNode } from "./support.ts";

const owner = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const usdc = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
const token2022Mint = "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo";
const notAMint = "11111111111111111111111111111111";
const chainId = "Solana_Devnet";
const LOCAL_GENESIS = '"GH7ome3EiwEr7tu9JuTh2dpYWBJK3z69Xm1ZE3MEE6JC"';
const MAINNET_GENESIS = '"5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"';

/** One account as `getTokenAccountsByOwner` shows it with `jsonParsed`. */
function account(mint: string, amount: string, decimals: number): string {
  const info = {
    isNative: false,
    mint,
    owner,
    state: "initialized",
    tokenAmount: { amount, decimals, uiAmount: null, uiAmountString: "" },
  };
  const data = { parsed: { info, type: "account" }, program: "spl-token", space: 165 };
  return JSON.stringify({ pubkey: owner, account: { data, lamports: 2_039_280, space: 165 } });
}

const accountsByMint: Record<string, string[]> = {
  [usdc]: [account(usdc, "1500000", 6), account(usdc, "18446744073709551615", 6)],
  [token2022Mint]: [account(token2022Mint, "25", 2)],
};
const invalidMint = { code: -32_602, message: "Invalid param: could not find mint" };

function methods(overrides: Record<string, ScriptedMethod> = {}): Record<string, ScriptedMethod> {
  return {
    getSlot: () => "42",
    getGenesisHash: () => LOCAL_GENESIS,
    getBalance: () => '{"context":{"slot":42},"value":18014398509481985}',
    getTokenAccountsByOwner: (params) => {
      const { mint } = params[1] as { mint: string };
      if (mint === notAMint) return invalidMint;
      return `{"context":{"slot":42},"value":[${(accountsByMint[mint] ?? []).join(",")}]}`;
    },
    getTokenSupply: (params) =>
      params[0] === notAMint
        ? invalidMint
        : '{"context":{"slot":42},"value":{"amount":"100","decimals":2,"uiAmountString":"1"}}',
    ...overrides,
  };
}

const nodes = {
  good: startNode(methods()),
  empty: startNode(
    methods({ getTokenAccountsByOwner: () => '{"context":{"slot":42},"value":[]}' }),
  ),
  mainnet: startNode(methods({ getGenesisHash: () => MAINNET_GENESIS })),
  odd: startNode(
    methods({
      getBalance: () => '{"value":-1}',
      getTokenAccountsByOwner: () => '{"value":[{"account":"base64"}]}',
    }),
  ),
  quiet: startNode(
    methods({ getGenesisHash: () => ({ code: -32_601, message: "Method not found" }) }),
  ),
};
const app = await balanceApp({ allowedOrigins: Object.values(nodes).map(({ url }) => url) });
afterAll(async () => {
  app.close();
  await Promise.all(Object.values(nodes).map((node) => node.stop()));
});

const ask = (node: keyof typeof nodes, members: object = {}) =>
  app.ask({ address: owner, chainId, rpcUrl: nodes[node].url, ...members });

describe("POST /api/public/wallet/balance, 200 on Solana", () => {
  test("lamports beyond 2^53 keep every digit", async () => {
    const { text } = await ask("good", { balanceType: "native" });
    expect(text).toBe('{"balance":"18014398.509481985"}');
  });

  test("several accounts of one mint are summed, beyond 64 bits", async () => {
    expect((await ask("good")).text).toBe('{"balance":"18446744073711.051615"}');
  });

  test("a Token-2022 mint the registry does not know is read with the decimals of its supply", async () => {
    const { body } = await ask("good", { tokenAddress: token2022Mint });
    expect(body).toEqual({ balance: "0.25" });
  });

  test("a wallet without an account of the mint has zero in the mint's decimals", async () => {
    expect((await ask("empty")).body).toEqual({ balance: "0.000000" });
    const { body } = await ask("empty", { tokenAddress: token2022Mint });
    expect(body).toEqual({ balance: "0.00" });
  });

  test("a node that hides its genesis hash is still used", async () => {
    expect((await ask("quiet")).status).toBe(200);
  });
});

describe("POST /api/public/wallet/balance, 400 on Solana", () => {
  test("addresses that are not base58 of 32 bytes", async () => {
    const wrong = [
      { address: "0x00000000000000000000000000000000C0FFEE01" },
      { address: `${owner}1` },
      { address: owner.replace("9", "0") },
      { tokenAddress: "USDC" },
    ];
    for (const member of wrong) {
      const { status, code, body } = await ask("good", member);
      expect({ member, status, code }).toEqual({ member, status: 400, code: "INVALID_FIELD" });
      expect(body.error).toContain(Object.keys(member)[0]!);
    }
  });

  test("a tokenAddress that is no mint says so", async () => {
    const { body } = await ask("good", { tokenAddress: notAMint });
    expect(body.error).toBe(
      `Invalid field: tokenAddress (${notAMint} is no token mint on Solana_Devnet)`,
    );
  });

  test("a node of another public cluster", async () => {
    expect(await ask("mainnet")).toMatchObject({
      status: 400,
      code: "RPC_URL_WRONG_NETWORK",
      body: { error: "rpcUrl does not serve Solana_Devnet (133268194659241)" },
    });
  });

  test("answers of another shape are never read as a balance", async () => {
    for (const balanceType of ["native", "token"]) {
      const answer = await ask("odd", { balanceType });
      expect(answer).toMatchObject({ status: 400, code: "RPC_URL_UNREACHABLE" });
    }
  });
});
