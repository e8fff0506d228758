import { describe, expect, test } from "bun:test";
import {
  AccountRole,
  address,
  createKeyPairSignerFromBytes,
  generateKeyPairSigner,
  getBase58Encoder,
} from "@solana/kit";
import { bytesToHex, hexToBytes, padHex } from "viem";
import { evmForwardHook, solanaForwardHook } from "../../src/bridge/forwarder.ts";
import {
  associatedTokenAccount,
  burnAddresses,
  canBeWallet,
  messageTransmitterAccount,
  mintAddresses,
} from "../../src/bridge/solana/addresses.ts";
import {
  burnInstruction,
  receiveInstruction,
  reclaimInstruction,
} from "../../src/bridge/solana/instructions.ts";
import { solana, solanaDevnet } from "../../src/chains/networks/solana.ts";
import { accounts } from "../support/sandbox.ts";

const cctpOf = (network: typeof solana) => ({
  messageTransmitter: address(network.cctp!.messageTransmitter),
  tokenMessenger: address(network.cctp!.tokenMessenger),
  usdc: address(network.tokens[0]!.address),
});
const mainnet = cctpOf(solana);
const devnet = cctpOf(solanaDevnet);
const nonce = `0x${"11".repeat(32)}` as const;
const operatorSecret = Uint8Array.from(
  getBase58Encoder().encode(accounts.solana.operator.secretKey),
);

describe("derived addresses are those of the deployed programs", () => {
  test("of a burn", async () => {
    const owner = accounts.solana.operator.address;
    const main = await burnAddresses(mainnet, owner, 26);
    expect(main).toMatchObject({
      senderAuthority: "45hzrGLQ2EGo1Ln7QpXjDwb589GDQ9H2aEXXw6ds6BFE",
      messageTransmitter: "W1k5ijkaSTo5iA5zChNpfzcy796fLhkBxfmJuR8W8HU",
      tokenMessenger: "AawthJCGRmggpfv9MMWV6Jmo9cue4gL9wUZgRBShg58W",
      remoteTokenMessenger: "2mfHPyiRdSkp2dJxmhMPvhfZCPDKDtzPQ5GUj1YB8n18",
      tokenMinter: "E1bQJ8eMMn3zmeSewW3HQ8zmJr7KR75JonbwAtWx2bux",
      localToken: "CRBBbuLCyrkQy4dCTHxqstSmDQv4ajBeUVb9qUdMVaP1",
      eventAuthority: "6TCCnJ9R1m1RXFzyoH7GYH2J6NJDtZaUvfipPuLWxHNd",
    });
    const dev = await burnAddresses(devnet, owner, 0);
    expect(dev.localToken).toBe(address("7MwmWTK2R9Na6rnoSAEt5gytFmSZj9WLVdazvxvru9AU"));
    expect(dev.remoteTokenMessenger).toBe(address("3EzN2mcmdfSNGXRCAixSpTteK6ywdmFDZZWvkMnznFt9"));
  });

  test("of a mint", async () => {
    const message = { nonce, sourceDomain: 6, burnToken: padHex("0x01", { size: 32 }) };
    expect(await mintAddresses(mainnet, message)).toMatchObject({
      authority: "DsAdX23SVpTPYhKP2ua1mx8gTPqLyzx7a43cyxYjS2up",
      remoteTokenMessenger: "BwmDYtQ7jFj8ddaTmKa7fz9hyuK9n58mvc8G7DYNcKjM",
      custody: "6xTBTqJMBr5m7BKqVxmW2x11DfqUwtD3TJsqpxELx72L",
      transmitterEventAuthority: "2PcXTomVAbX5Es1NUZUkxwuCm8tvV4NmRk3fmQWFCWoV",
      messengerEventAuthority: "6TCCnJ9R1m1RXFzyoH7GYH2J6NJDtZaUvfipPuLWxHNd",
    });
    const dev = await mintAddresses(devnet, message);
    expect(dev.custody).toBe(address("CFUgYpbas5UdJkwwSobYgzhFqFuj6C8MfXwBetE3o4SY"));
  });
});

describe("the burn instruction", () => {
  const terms = {
    amount: 10_209_052n,
    destinationDomain: 26,
    mintRecipient: padHex("0x70997970c51812dc3a010c7d01b50e0d17dc79c8", { size: 32 }),
    maxFee: 209_052n,
    minFinalityThreshold: 1_000,
  };

  test("has every byte and account in its place, with and without a hook", async () => {
    const owner = await createKeyPairSignerFromBytes(operatorSecret);
    const event = await generateKeyPairSigner();
    const at = await burnAddresses(devnet, owner.address, 26);
    const {
      accounts: metas,
      data,
      programAddress,
    } = await burnInstruction(devnet, owner, event, {
      ...terms,
      hookData: evmForwardHook(),
    });
    expect(programAddress).toBe(devnet.tokenMessenger);
    const expectedData = [
      "6ff53e83cc6cdf9b",
      "1cc79b0000000000",
      "1a000000",
      "00000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8",
      "00".repeat(32),
      "9c30030000000000",
      "e8030000",
      "20000000",
      "636374702d666f72776172640000000000000000000000000000000000000000",
    ].join("");
    expect(bytesToHex(Uint8Array.from(data!))).toBe(`0x${expectedData}`);
    const { READONLY, READONLY_SIGNER, WRITABLE, WRITABLE_SIGNER } = AccountRole;
    expect(metas!.map((meta) => [meta.address as string, meta.role])).toEqual([
      [owner.address, READONLY_SIGNER],
      [owner.address, WRITABLE_SIGNER],
      [at.senderAuthority, READONLY],
      [at.burnTokenAccount, WRITABLE],
      [at.denylistAccount, READONLY],
      [at.messageTransmitter, WRITABLE],
      [at.tokenMessenger, READONLY],
      [at.remoteTokenMessenger, READONLY],
      [at.tokenMinter, READONLY],
      [at.localToken, WRITABLE],
      [devnet.usdc, WRITABLE],
      [event.address, WRITABLE_SIGNER],
      [devnet.messageTransmitter, READONLY],
      [devnet.tokenMessenger, READONLY],
      ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", READONLY],
      ["11111111111111111111111111111111", READONLY],
      [at.eventAuthority, READONLY],
      [devnet.tokenMessenger, READONLY],
    ]);
    const plain = await burnInstruction(devnet, owner, event, { ...terms, hookData: "0x" });
    expect(bytesToHex(Uint8Array.from(plain.data!))).toBe(
      `0xd73c3d2e723780b0${expectedData.slice(16, 16 + 16 + 8 + 128 + 16 + 8)}` as const,
    );
  });
});

test("the mint instruction has its accounts in the program's order and its bytes in Borsh", async () => {
  const payer = await createKeyPairSignerFromBytes(operatorSecret);
  const recipient = await associatedTokenAccount(payer.address, devnet.usdc);
  const terms = {
    bytes: "0x0102",
    attestation: "0x030405",
    nonce,
    sourceDomain: 26,
    burnToken: padHex("0x36", { size: 32 }),
    mintRecipient: bytesToHex(Uint8Array.from(getBase58Encoder().encode(recipient))),
    feeRecipientAccount: recipient,
  } as const;
  const at = await mintAddresses(devnet, terms);
  const { accounts: metas, data } = await receiveInstruction(devnet, payer, terms);
  expect(bytesToHex(Uint8Array.from(data!))).toBe("0x26907fe11fe1ee1902000000010203000000030405");
  expect(metas!.map((meta) => meta.address as string)).toEqual([
    payer.address,
    payer.address,
    at.authority,
    at.messageTransmitter,
    at.usedNonce,
    devnet.tokenMessenger,
    "11111111111111111111111111111111",
    at.transmitterEventAuthority,
    devnet.messageTransmitter,
    at.tokenMessenger,
    at.remoteTokenMessenger,
    at.tokenMinter,
    at.localToken,
    at.tokenPair,
    recipient,
    recipient,
    at.custody,
    "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    at.messengerEventAuthority,
    devnet.tokenMessenger,
  ]);
});

test("the reclaim instruction names payer, transmitter and event account, and carries what was attested", async () => {
  const payee = await createKeyPairSignerFromBytes(operatorSecret);
  const event = (await generateKeyPairSigner()).address;
  const transmitterState = await messageTransmitterAccount(devnet);
  const terms = { bytes: "0x0102", attestation: "0x030405" } as const;
  const made = reclaimInstruction(devnet, payee, { transmitterState, event }, terms);
  const { WRITABLE, WRITABLE_SIGNER } = AccountRole;
  expect(made.programAddress).toBe(devnet.messageTransmitter);
  expect(made.accounts!.map((meta) => [meta.address as string, meta.role])).toEqual([
    [payee.address, WRITABLE_SIGNER],
    ["W1k5ijkaSTo5iA5zChNpfzcy796fLhkBxfmJuR8W8HU", WRITABLE],
    [event, WRITABLE],
  ]);
  expect(bytesToHex(Uint8Array.from(made.data!))).toBe(
    "0x5ec6b49f83ec0fae03000000030405020000000102",
  );
});

test("forwarding hooks have the frame of the forwarding service", () => {
  expect(evmForwardHook()).toBe(`0x${"636374702d666f7277617264"}${"00".repeat(20)}`);
  const owner = `0x${"ab".repeat(32)}` as const;
  const hook = solanaForwardHook(owner);
  expect(hexToBytes(hook)).toHaveLength(65);
  expect(hook.slice(2 + 2 * 28)).toBe(`00000021${"01"}${"ab".repeat(32)}`);
});

test("a token account or another program's address is no wallet", async () => {
  const owner = accounts.solana.operator.address;
  expect(canBeWallet(owner)).toBe(true);
  expect(canBeWallet(await associatedTokenAccount(owner, devnet.usdc))).toBe(false);
  expect(canBeWallet("AawthJCGRmggpfv9MMWV6Jmo9cue4gL9wUZgRBShg58W")).toBe(false);
});
