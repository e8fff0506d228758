import { describe, expect, test } from "bun:test";
import { planTransfer } from "../../src/bridge/plan.ts";
import { createRegistry } from "../../src/chains/index.ts";
import { ApiError } from "../../src/lib/errors.ts";
import type { BridgeRequest } from "../../src/bridge/model.ts";

const chains = createRegistry({ useDefaultUpstreams: true, override: {} });
const wallet = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const solanaWallet = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const good: BridgeRequest = {
  fromChainId: 5042002,
  toChainId: 84532,
  amount: "10.00",
  token: "USDC",
  recipientAddress: wallet,
};

const codeOf = (change: Partial<BridgeRequest>, environment: "test" | "live" = "live") => {
  try {
    planTransfer(chains, environment, { ...good, ...change });
    return "accepted";
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
};

describe("planTransfer", () => {
  test("gives networks, atomic amount and checksummed recipient", () => {
    const plan = planTransfer(chains, "test", { ...good, recipientAddress: wallet.toLowerCase() });
    expect(plan).toMatchObject({
      amountAtomic: 10_000_000n,
      recipient: wallet,
      useForwarder: true,
    });
    expect([plan.from.id, plan.to.id]).toEqual([5042002, 84532]);
  });

  test.each([
    [{ fromChainId: 99 }, "UNSUPPORTED_CHAIN"],
    [{ toChainId: 5042002 }, "INVALID_FIELD"],
    [{ toChainId: 5042 }, "UNSUPPORTED_CHAIN"],
    [{ amount: "1e3" }, "INVALID_FIELD"],
    [{ amount: "0" }, "INVALID_FIELD"],
    [{ amount: "1.0000001" }, "INVALID_FIELD"],
    [{ recipientAddress: "0x0000000000000000000000000000000000000000" }, "INVALID_RECIPIENT"],
    [{ recipientAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" }, "INVALID_RECIPIENT"],
    [{ recipientAddress: "0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA" }, "INVALID_RECIPIENT"],
    [{ recipientAddress: "0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275" }, "INVALID_RECIPIENT"],
    [{ recipientAddress: "0xcA11bde05977b3631167028862bE2a173976CA11" }, "INVALID_RECIPIENT"],
    [{ recipientAddress: "0x0000000000000000000000000000000000000009" }, "INVALID_RECIPIENT"],
    [{ recipientAddress: "0x1800000000000000000000000000000000000001" }, "INVALID_RECIPIENT"],
    [{ recipientAddress: "0x3600000000000000000000000000000000000001" }, "INVALID_RECIPIENT"],
    [{ recipientAddress: solanaWallet }, "INVALID_RECIPIENT"],
    [{ recipientAddress: wallet.slice(0, -1) }, "INVALID_RECIPIENT"],
    [{ recipientAddress: "" }, "INVALID_RECIPIENT"],
    [{ senderAddress: "0x12" }, "INVALID_FIELD"],
  ] as const)("refuses %p", (change, code) => expect(codeOf(change)).toBe(code));

  test("a Solana recipient is a base58 wallet, not a mint", () => {
    const toChainId = 133268194659241;
    expect(codeOf({ toChainId, recipientAddress: solanaWallet })).toBe("accepted");
    expect(codeOf({ toChainId, recipientAddress: wallet })).toBe("INVALID_RECIPIENT");
    // Off the curve: CCTP's own account, and a wallet's token account.
    for (const recipientAddress of [
      "AawthJCGRmggpfv9MMWV6Jmo9cue4gL9wUZgRBShg58W",
      "CFUgYpbas5UdJkwwSobYgzhFqFuj6C8MfXwBetE3o4SY",
      "11111111111111111111111111111111",
      "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    ]) {
      expect(codeOf({ toChainId, recipientAddress })).toBe("INVALID_RECIPIENT");
    }
    expect(
      codeOf({ toChainId, recipientAddress: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU" }),
    ).toBe("INVALID_RECIPIENT");
  });

  test("test keys never move mainnet funds", () => {
    expect(codeOf({ fromChainId: 5042, toChainId: 8453 }, "test")).toBe("TEST_KEY_ON_MAINNET");
    expect(codeOf({ fromChainId: 5042, toChainId: 8453 }, "live")).toBe("accepted");
  });
});
