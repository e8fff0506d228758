import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  maxUint256,
  parseSignature,
  publicActions,
  slice,
  toBytes,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { eurcAbi } from "../../src/sandbox/contracts/abi/eurc.ts";
import { testUSDCAbi } from "../../src/sandbox/contracts/abi/testUSDC.ts";
import { usdtAbi } from "../../src/sandbox/contracts/abi/usdt.ts";
import { sandboxAccounts } from "../../src/sandbox/accounts.ts";
import { type Anvil, startAnvil } from "../../src/sandbox/anvil.ts";
import { readArtifact } from "../../src/sandbox/deploy/artifacts.ts";
import { createTransactionList } from "../../src/sandbox/deploy/transactions.ts";
import { createProcessGroup } from "../../src/sandbox/processes.ts";

const group = createProcessGroup();
const { deployer, wallets } = sandboxAccounts();
const owner = deployer.address;
const [alice, bob] = wallets.map(({ privateKey }) => privateKeyToAccount(privateKey)) as [
  ReturnType<typeof privateKeyToAccount>,
  ReturnType<typeof privateKeyToAccount>,
];
const NEVER = 2n ** 40n;

let chain: Anvil;
let usdc: Hex;
let eurc: Hex;
let usdt: Hex;

beforeAll(async () => {
  // Blocks at a pace too: a busy node may leave a transaction to the next reason to mine.
  chain = await startAnvil(group, { chainId: 704, blockTimeSeconds: 1 });
  const list = createTransactionList(owner);
  const tokens = (["usdc", "eurc", "usdt"] as const).map((name) =>
    list.deploy(name, readArtifact(name), [owner]),
  );
  for (const token of tokens) {
    list.call(token, "configureMinter", [owner, 10n ** 24n]);
    list.call(token, "mint", [alice.address, 10n ** 12n]);
  }
  await list.submit(chain.rpc);
  [usdc, eurc, usdt] = tokens.map(({ address }) => address) as [Hex, Hex, Hex];
});
afterAll(() => group.stop());

const client = () => createPublicClient({ transport: http(chain.url), cacheTime: 0 });
const wallet = (account = alice) =>
  createWalletClient({ account, transport: http(chain.url), pollingInterval: 5 }).extend(
    publicActions,
  );

/** Sends and waits; rejects with the contract's error when it would revert. */
async function send(to: Hex, data: Hex, account = alice): Promise<void> {
  const sender = wallet(account);
  const hash = await sender.sendTransaction({ chain: null, to, data });
  await sender.waitForTransactionReceipt({ hash });
}

const usdcBalance = (account: Hex) =>
  client().readContract({
    address: usdc,
    abi: testUSDCAbi,
    functionName: "balanceOf",
    args: [account],
  });

const domain = () => ({
  name: "USD Coin",
  version: "2",
  chainId: chain.chainId,
  verifyingContract: usdc,
});
const authorizationFields = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;
const types = {
  TransferWithAuthorization: authorizationFields,
  ReceiveWithAuthorization: authorizationFields,
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

interface Authorization {
  readonly nonce: Hex;
  readonly value?: bigint;
  readonly validAfter?: bigint;
  readonly validBefore?: bigint;
  readonly signer?: typeof alice;
}

/** Alice's transfer to Bob, signed; the call in its form with bytes or with v, r, s. */
async function authorized(
  kind: "transfer" | "receive",
  form: "bytes" | "vrs",
  { nonce, value = 5n, validAfter = 0n, validBefore = NEVER, signer = alice }: Authorization,
): Promise<Hex> {
  const message = { from: alice.address, to: bob.address, value, validAfter, validBefore, nonce };
  const primaryType =
    kind === "transfer" ? "TransferWithAuthorization" : "ReceiveWithAuthorization";
  const signature = await signer.signTypedData({ domain: domain(), types, primaryType, message });
  const fields = [alice.address, bob.address, value, validAfter, validBefore, nonce] as const;
  const functionName = `${kind}WithAuthorization` as const;
  if (form === "bytes") {
    return encodeFunctionData({ abi: testUSDCAbi, functionName, args: [...fields, signature] });
  }
  const { r, s } = parseSignature(signature);
  const v = Number(slice(signature, 64));
  return encodeFunctionData({ abi: testUSDCAbi, functionName, args: [...fields, v, r, s] });
}

const nonceOf = (text: string) => keccak256(toBytes(text));

describe("EIP-3009", () => {
  test.each(["bytes", "vrs"] as const)("anyone may send a transfer, once (%s)", async (form) => {
    const before = await usdcBalance(bob.address);
    const data = await authorized("transfer", form, { nonce: nonceOf(`transfer ${form}`) });
    await send(usdc, data, bob);
    expect(await usdcBalance(bob.address)).toBe(before + 5n);
    const state = await client().readContract({
      address: usdc,
      abi: testUSDCAbi,
      functionName: "authorizationState",
      args: [alice.address, nonceOf(`transfer ${form}`)],
    });
    expect(state).toBe(true);
    await expect(send(usdc, data, bob)).rejects.toThrow(selector("AuthorizationAlreadyUsed"));
  });

  test.each(["bytes", "vrs"] as const)("only the payee may receive (%s)", async (form) => {
    const before = await usdcBalance(bob.address);
    const data = await authorized("receive", form, { nonce: nonceOf(`receive ${form}`) });
    await expect(send(usdc, data, alice)).rejects.toThrow(selector("CallerNotPayee"));
    await send(usdc, data, bob);
    expect(await usdcBalance(bob.address)).toBe(before + 5n);
  });

  test("time limits, other signers and other kinds are refused", async () => {
    const nonce = nonceOf("refused");
    const early = await authorized("transfer", "bytes", { nonce, validAfter: NEVER - 1n });
    await expect(send(usdc, early)).rejects.toThrow(selector("AuthorizationNotYetValid"));
    const late = await authorized("transfer", "bytes", { nonce, validBefore: 1n });
    await expect(send(usdc, late)).rejects.toThrow(selector("AuthorizationExpired"));
    const forged = await authorized("transfer", "vrs", { nonce, signer: bob });
    await expect(send(usdc, forged)).rejects.toThrow(selector("InvalidSignature"));
    const receive = await authorized("receive", "vrs", { nonce });
    const asTransfer = `${(await authorized("transfer", "vrs", { nonce })).slice(0, 10)}${receive.slice(10)}`;
    await expect(send(usdc, asTransfer as Hex)).rejects.toThrow(selector("InvalidSignature"));
  });

  test("a cancelled authorization can't be used", async () => {
    const nonce = nonceOf("cancelled");
    const message = { authorizer: alice.address, nonce };
    const signature = await alice.signTypedData({
      domain: domain(),
      types,
      primaryType: "CancelAuthorization",
      message,
    });
    const cancel = encodeFunctionData({
      abi: testUSDCAbi,
      functionName: "cancelAuthorization",
      args: [alice.address, nonce, signature],
    });
    await send(usdc, cancel, bob);
    const data = await authorized("transfer", "bytes", { nonce });
    await expect(send(usdc, data)).rejects.toThrow(selector("AuthorizationAlreadyUsed"));
  });
});

/** First four bytes of an error of TestUSDC, as nodes show it. */
function selector(name: string): string {
  const signatures: Record<string, string> = {
    AuthorizationAlreadyUsed: "AuthorizationAlreadyUsed(address,bytes32)",
    CallerNotPayee: "CallerNotPayee(address,address)",
    AuthorizationNotYetValid: "AuthorizationNotYetValid(uint256)",
    AuthorizationExpired: "AuthorizationExpired(uint256)",
    InvalidSignature: "InvalidSignature()",
    PermitExpired: "PermitExpired(uint256)",
    AllowanceNotReset: "AllowanceNotReset(address,uint256)",
    NotMinter: "NotMinter(address)",
    NotOwner: "NotOwner(address)",
    MintAllowanceExceeded: "MintAllowanceExceeded(uint256,uint256)",
  };
  return slice(keccak256(toBytes(signatures[name] ?? name)), 0, 4);
}

test("EIP-2612: a permit sets the allowance once and expires", async () => {
  const permit = async (nonce: bigint, deadline: bigint) => {
    const message = {
      owner: alice.address,
      spender: bob.address,
      value: 77n,
      nonce,
      deadline,
    };
    const signature = await alice.signTypedData({
      domain: domain(),
      types,
      primaryType: "Permit",
      message,
    });
    const { r, s } = parseSignature(signature);
    const v = Number(slice(signature, 64));
    const args = [alice.address, bob.address, 77n, deadline, v, r, s] as const;
    return encodeFunctionData({ abi: testUSDCAbi, functionName: "permit", args });
  };
  const data = await permit(0n, NEVER);
  await send(usdc, data, bob);
  const allowance = await client().readContract({
    address: usdc,
    abi: testUSDCAbi,
    functionName: "allowance",
    args: [alice.address, bob.address],
  });
  expect(allowance).toBe(77n);
  await expect(send(usdc, data, bob)).rejects.toThrow(selector("InvalidSignature"));
  await expect(send(usdc, await permit(1n, 1n), bob)).rejects.toThrow(selector("PermitExpired"));
});

const readSeparator = () =>
  client().readContract({ address: usdc, abi: testUSDCAbi, functionName: "DOMAIN_SEPARATOR" });

test("the domain separator follows the chain id", async () => {
  const before = await readSeparator();
  await chain.rpc.call("anvil_setChainId", [705]);
  const after = await readSeparator();
  await chain.rpc.call("anvil_setChainId", [chain.chainId]);
  expect(after).not.toBe(before);
  expect(await readSeparator()).toBe(before);
});

const approve = (amount: bigint) =>
  encodeFunctionData({ abi: usdtAbi, functionName: "approve", args: [bob.address, amount] });

test("USDT returns nothing, and an allowance is reset before it is changed", async () => {
  await send(usdt, approve(1n));
  await expect(send(usdt, approve(2n))).rejects.toThrow(selector("AllowanceNotReset"));
  await send(usdt, approve(0n));
  await send(usdt, approve(2n));
  const { data } = await client().call({ account: alice, to: usdt, data: approve(0n) });
  expect(data).toBeUndefined();
});

test("EURC has 18 decimals, the two dollars 6", async () => {
  const decimals = [eurc, usdc, usdt].map((address) =>
    client().readContract({ address, abi: eurcAbi, functionName: "decimals" }),
  );
  expect(await Promise.all(decimals)).toEqual([18, 6, 6]);
});

const usdcData = (functionName: "configureMinter" | "mint" | "burn", ...args: readonly unknown[]) =>
  encodeFunctionData({ abi: testUSDCAbi, functionName, args } as never);

test("minters mint within their allowance and burn their own; the owner appoints them", async () => {
  const asOwner = privateKeyToAccount(deployer.privateKey);
  const minting = usdcData("mint", alice.address, 60n);
  await expect(send(usdc, minting, bob)).rejects.toThrow(selector("NotMinter"));
  await expect(send(usdc, usdcData("configureMinter", bob.address, 100n), bob)).rejects.toThrow(
    selector("NotOwner"),
  );
  await send(usdc, usdcData("configureMinter", bob.address, 100n), asOwner);
  await send(usdc, minting, bob);
  await expect(send(usdc, minting, bob)).rejects.toThrow(selector("MintAllowanceExceeded"));
  const before = await usdcBalance(bob.address);
  await send(usdc, usdcData("burn", 3n), bob);
  expect(await usdcBalance(bob.address)).toBe(before - 3n);
  await send(usdc, usdcData("configureMinter", bob.address, maxUint256), asOwner);
});
