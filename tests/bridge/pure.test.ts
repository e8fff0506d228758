import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bytesToHex, type Hex } from "viem";
import { parseMessages } from "../../src/bridge/attestation/answer.ts";
import { createBudget } from "../../src/bridge/attestation/budget.ts";
import { replacementFees } from "../../src/bridge/evm/gas.ts";
import { parseRouteFees, planFees } from "../../src/bridge/fees.ts";
import { estimateTime } from "../../src/bridge/finality.ts";
import { evmForwardHook } from "../../src/bridge/forwarder.ts";
import { type BurnMessage, decodeMessage, encodeMessage } from "../../src/bridge/message.ts";
import { checkMessage, type ExpectedMessage } from "../../src/bridge/messageCheck.ts";
import {
  isAfterBurn,
  transition,
  type TransferEvent,
  type TransferState,
  transferStates,
} from "../../src/bridge/transition.ts";
import { createRegistry } from "../../src/chains/index.ts";

const SEED = { seed: 20_261_120, numRuns: 500 };
const hex = (min: number, max = min): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: min, maxLength: max }).map(bytesToHex);
const u32 = fc.nat(0xffff_ffff);
const u256 = fc.bigInt(0n, (1n << 256n) - 1n);

const messages: fc.Arbitrary<BurnMessage> = fc.record({
  version: u32,
  sourceDomain: u32,
  destinationDomain: u32,
  nonce: hex(32),
  sender: hex(32),
  recipient: hex(32),
  destinationCaller: hex(32),
  minFinalityThreshold: u32,
  finalityThresholdExecuted: u32,
  body: fc.record({
    version: u32,
    burnToken: hex(32),
    mintRecipient: hex(32),
    amount: u256,
    messageSender: hex(32),
    maxFee: u256,
    feeExecuted: u256,
    expirationBlock: u256,
    hookData: hex(0, 100),
  }),
});

describe("messages", () => {
  test("decode to what was encoded, and have the documented lengths", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const bytes = encodeMessage(message);
        expect(decodeMessage(bytes)).toEqual(message);
        expect(bytes.length).toBe(2 + 2 * 376 + message.body.hookData.length - 2);
      }),
      SEED,
    );
  });

  test("never throw on other bytes", () => {
    fc.assert(
      fc.property(hex(0, 600), (bytes) => {
        const decoded = decodeMessage(bytes);
        expect(decoded === undefined).toBe(bytes.length < 2 + 2 * 376);
        if (decoded) expect(encodeMessage(decoded)).toBe(bytes);
      }),
      SEED,
    );
    expect(decodeMessage("0xzz" as Hex)).toBeUndefined();
    expect(decodeMessage(`0x${"00".repeat(9_000)}`)).toBeUndefined();
  });

  test("are taken only when every field is ours", () => {
    fc.assert(
      fc.property(messages, fc.nat(375), fc.integer({ min: 1, max: 255 }), (any, at, flip) => {
        const maxFee = any.body.maxFee % 1_000_000n;
        const zero: Hex = `0x${"00".repeat(32)}`;
        const ours: BurnMessage = {
          ...any,
          version: 1,
          nonce: `0x${"07".repeat(32)}`,
          destinationCaller: zero,
          minFinalityThreshold: 2_000,
          finalityThresholdExecuted: 2_000,
          body: { ...any.body, version: 1, maxFee, feeExecuted: maxFee, expirationBlock: 0n },
        };
        const expected: ExpectedMessage = {
          ...ours,
          ...ours.body,
          amountAtomic: ours.body.amount,
          maxFeeAtomic: maxFee,
        };
        const bytes = encodeMessage(ours);
        expect(checkMessage(bytes, expected, ours.nonce).ok).toBe(true);
        // Any one byte changed, but for the expiration, which the destination judges.
        const changed = Uint8Array.fromHex(bytes.slice(2));
        changed[at] = changed[at]! ^ flip;
        const forged = checkMessage(bytesToHex(changed), expected, ours.nonce);
        const isFree = at >= 344 && at < 376;
        const decoded = decodeMessage(bytesToHex(changed))!;
        const isLowerFee = at >= 312 && at < 344 && decoded.body.feeExecuted < maxFee;
        const isHigherFinality = at >= 144 && at < 148 && decoded.finalityThresholdExecuted > 2_000;
        expect(forged.ok).toBe(isFree || isLowerFee || isHigherFinality);
      }),
      SEED,
    );
  });
});

describe("states", () => {
  const events: readonly TransferEvent[] = [
    "pullSigned",
    "pulled",
    "burnSigned",
    "broadcast",
    "burned",
    "attested",
    "mintSigned",
    "minted",
    "abandoned",
  ];
  const happen = fc.array(fc.constantFrom(...events), { maxLength: 40 });

  test("after a burn only unfinished or completed is reachable", () => {
    fc.assert(
      fc.property(fc.constantFrom(...transferStates), happen, (start, sequence) => {
        let state: TransferState = start;
        let burned = isAfterBurn(state);
        for (const event of sequence) {
          state = transition(state, event) ?? state;
          if (burned) expect(isAfterBurn(state)).toBe(true);
          burned ||= isAfterBurn(state);
        }
      }),
      { ...SEED, numRuns: 5_000 },
    );
  });

  test("only move forward, and final ones never", () => {
    for (const state of transferStates) {
      for (const event of events) {
        const next = transition(state, event);
        if (next)
          expect(transferStates.indexOf(next)).toBeGreaterThan(transferStates.indexOf(state));
        if (state === "completed" || state === "failed") expect(next).toBeUndefined();
      }
    }
    // The sender's money is here: there is no way to give up.
    expect(transition("funded", "abandoned")).toBeUndefined();
    expect(transition("signed", "abandoned")).toBeUndefined();
  });
});

describe("fees", () => {
  const cap = { maxFeeBps: 1_000, maxFeeAtomic: 2_000_000n };

  test("leave exactly the amount when all of them is taken, within the cap", () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 10n ** 13n),
        fc.nat(14_000_000),
        fc.nat(2_000_000),
        fc.boolean(),
        (amount, fastMicroBps, forwardFee, mayForward) => {
          const plan = planFees(
            amount,
            mayForward,
            {
              fastMicroBps: BigInt(fastMicroBps),
              standardMicroBps: 0n,
              forwardFeeAtomic: BigInt(forwardFee),
            },
            cap,
          )!;
          expect(plan.maxFeeAtomic).toBeLessThanOrEqual(cap.maxFeeAtomic);
          expect(plan.maxFeeAtomic * 10n).toBeLessThanOrEqual(amount);
          if (!plan.useForwarder) return expect(plan.maxFeeAtomic).toBe(0n);
          expect(mayForward).toBe(true);
          // The fast part covers the tier's share of all that is burned, and not a unit more.
          const burned = amount + plan.maxFeeAtomic;
          const fast = plan.maxFeeAtomic - BigInt(forwardFee);
          const rate = plan.finality === "fast" ? BigInt(fastMicroBps) : 0n;
          expect(fast * 10n ** 10n).toBeGreaterThanOrEqual(burned * rate);
          if (fast > 0n) {
            expect((fast - 1n) * 10n ** 10n).toBeLessThan((burned - 1n) * rate);
          }
        },
      ),
      SEED,
    );
  });

  test.each([
    [[{ finalityThreshold: 2000, minimumFee: 0 }], { standardMicroBps: 0n }],
    [
      [
        { finalityThreshold: 1000, minimumFee: 1.3 },
        { finalityThreshold: 2000, minimumFee: "0", forwardFee: { low: 1, med: 2, high: 3 } },
      ],
      { fastMicroBps: 1_300_000n, standardMicroBps: 0n, forwardFeeAtomic: 3n },
    ],
    [
      [{ finalityThreshold: 2000, minimumFee: "0.5", forwardFee: { medium: "7" } }],
      { standardMicroBps: 500_000n, forwardFeeAtomic: 7n },
    ],
  ])("are read from %j", (answer, expected) => {
    expect(parseRouteFees(answer)).toMatchObject(expected);
  });

  const notFees: readonly [unknown][] = [
    [undefined],
    [{}],
    [[]],
    [[{ finalityThreshold: 1000, minimumFee: 1 }]],
    [[{ finalityThreshold: 2000 }]],
    [[{ finalityThreshold: 2000, minimumFee: -1 }]],
    [[{ finalityThreshold: 2000, minimumFee: "1e3" }]],
    [[{ finalityThreshold: 2000, minimumFee: 10_000 }]],
    ["busy"],
  ];
  test.each(notFees)("are not read from %j", (answer) => {
    expect(parseRouteFees(answer)).toBeUndefined();
  });
});

test("a replacement pays an eighth more on both fields, and never beyond reason", () => {
  const old = { maxFeePerGas: 80n, maxPriorityFeePerGas: 8n };
  expect(replacementFees(old, { maxFeePerGas: 20n, maxPriorityFeePerGas: 1n })).toEqual({
    maxFeePerGas: 91n,
    maxPriorityFeePerGas: 10n,
  });
  expect(replacementFees(old, { maxFeePerGas: 500n, maxPriorityFeePerGas: 50n })).toEqual({
    maxFeePerGas: 500n,
    maxPriorityFeePerGas: 50n,
  });
  expect(replacementFees(old, { maxFeePerGas: 5n, maxPriorityFeePerGas: 1n })).toBeUndefined();
});

test("the budget has no bursts, and none at all while it rests", () => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now, sleep: async () => {} };
  const budget = createBudget(10, clock);
  let taken = 0;
  for (; now < 1_000; now++) if (budget.tryTake()) taken++;
  expect(taken).toBe(10);
  budget.rest(5_000);
  for (; now < 6_000; now++) expect(budget.tryTake()).toBe(false);
  expect(budget.tryTake()).toBe(true);
});

test.each([
  null,
  "x",
  {},
  { messages: 1 },
  { messages: [] },
  { messages: [null] },
  { messages: [{ status: "complete" }] },
  { messages: [{ status: "complete", message: "PENDING", attestation: "PENDING" }] },
  { messages: [{ status: "complete", message: "0x", attestation: "0x" }] },
  { messages: [{ status: "pending_confirmations", message: "0x01", attestation: "0x02" }] },
])("nothing is attested in %j", (answer) => {
  expect(parseMessages(answer).every(({ message }) => message === undefined)).toBe(true);
});

test("estimated times are ranges in minutes that grow with finality", () => {
  const chains = createRegistry({ useDefaultUpstreams: false, override: {} });
  const [arc, base] = [chains.byId(5042)!, chains.byId(8453)!];
  expect(estimateTime(arc, "standard", true)).toBe("1-5 minutes");
  expect(estimateTime(base, "fast", true)).toBe("1-5 minutes");
  expect(estimateTime(base, "standard", false)).toBe("13-20 minutes");
  expect(evmForwardHook()).toHaveLength(66);
});
