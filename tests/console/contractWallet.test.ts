import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { encodeDeployData, type Hex, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { compileContracts } from "../../src/contracts/compile.ts";
import { type Stack, startStack } from "../app/stack.ts";
import { accounts } from "../support/sandbox.ts";
import { Visitor } from "./session.ts";

const owner = privateKeyToAccount(generatePrivateKey());

let stack: Stack;
let contract: Hex;
beforeAll(async () => {
  stack = await startStack([5042]);
  contract = await deployWallet();
}, 60_000);
afterAll(() => stack.stop());

/** Puts a contract wallet of `owner` on the chain. */
async function deployWallet(): Promise<Hex> {
  const name = "OwnedWallet.sol";
  const source = await Bun.file(join(import.meta.dir, "solidity", name)).text();
  const [artifact] = await compileContracts({ [name]: source });
  if (!artifact) throw new Error("the wallet does not compile");
  const { abi, bytecode } = artifact;
  const { rpc } = stack.chain;
  const from = accounts.deployer.address;
  const data = encodeDeployData({ abi, bytecode, args: [owner.address] });
  const hash = await rpc.call("eth_sendTransaction", [{ from, data, gas: toHex(1_000_000) }]);
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    const receipt = (await rpc.call("eth_getTransactionReceipt", [hash])) as {
      contractAddress: Hex;
    } | null;
    if (receipt) return receipt.contractAddress;
    await Bun.sleep(20);
  }
  throw new Error("the wallet was not mined");
}

/** Signs in as the contract; `signer` signs. */
async function enter(signer: typeof owner, chainId: number) {
  const visitor = new Visitor(stack.service.origin);
  const body = { address: contract, chainId };
  const { data } = await visitor.ask<{ nonce: string; message: string }>(
    "POST",
    "/sign-in/challenge",
    body,
  );
  const signature = await signer.signMessage({ message: data.message });
  return visitor.ask("POST", "/sign-in/wallet", { nonce: data.nonce, signature });
}

describe("a contract wallet", () => {
  test("signs in where the contract says that its owner's signature is its own", async () => {
    const answer = await enter(owner, 5042);
    expect(answer).toMatchObject({ status: 200, data: { account: { chainId: 5042 } } });
    const address = (answer.data as { account: { address: string } }).account.address;
    expect(address.toLowerCase()).toBe(contract.toLowerCase());
  });

  test("does not with a stranger's signature", async () => {
    const stranger = privateKeyToAccount(generatePrivateKey());
    expect((await enter(stranger, 5042)).code).toBe("SIGN_IN_FAILED");
  });

  test("does not on a chain without nodes here, where nobody can be asked", async () => {
    expect((await enter(owner, 1)).code).toBe("SIGN_IN_FAILED");
  });

  test("its owner's own account is another one", async () => {
    const visitor = new Visitor(stack.service.origin);
    const answer = await visitor.signIn(owner);
    expect(answer.data).toMatchObject({ account: { address: owner.address, chainId: null } });
  });
});
