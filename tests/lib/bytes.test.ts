import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { putNumber, putText } from "../../src/lib/ascii.ts";
import { remaining } from "../../src/lib/decay.ts";
import { HeadShape } from "../../src/lib/headShape.ts";
import { Spliced } from "../../src/lib/spliced.ts";
import { TurnQueue } from "../../src/lib/turnQueue.ts";

const encode = (text: string) => Buffer.from(text, "latin1");

const shapeOf = (head: string, length: string) => {
  const start = head.indexOf(length);
  return new HeadShape(head, start, start + length.length);
};

describe("in place", () => {
  test("a text is written as the runtime writes it, whatever its length", () => {
    const ascii = fc.string({ unit: "grapheme-ascii", maxLength: 100 });
    fc.assert(
      fc.property(ascii, fc.nat(20), (text, start) => {
        const target = Buffer.alloc(200);
        expect(putText(target, start, text)).toBe(start + text.length);
        expect(target.toString("latin1", start, start + text.length)).toBe(text);
      }),
    );
  });

  test("a number is written in decimal, also beyond 32 bits", () => {
    const sizes = [0, 1, 9, 10, 99, 100, 0x7fff_ffff, 0x8000_0000, Number.MAX_SAFE_INTEGER];
    const numbers = fc.oneof(fc.constantFrom(...sizes), fc.maxSafeNat(), fc.nat());
    fc.assert(
      fc.property(numbers, (value) => {
        const target = Buffer.alloc(40);
        const end = putNumber(target, 3, value);
        expect(target.toString("latin1", 3, end)).toBe(String(value));
      }),
    );
  });
});

describe("spliced bytes", () => {
  const bytes = fc.uint8Array({ maxLength: 600 });
  test("are the bytes around the cut with the patch between them, in one piece and in parts", () => {
    fc.assert(
      fc.property(bytes, bytes, fc.nat(), fc.nat(), (whole, patch, one, other) => {
        const ends = [one % (whole.length + 1), other % (whole.length + 1)] as const;
        const cut = { start: Math.min(...ends), end: Math.max(...ends) };
        const spliced = new Spliced(whole, cut, { bytes: patch, start: 0, end: patch.length });
        const expected = Buffer.concat([
          whole.subarray(0, cut.start),
          patch,
          whole.subarray(cut.end),
        ]);
        expect(spliced.length).toBe(expected.length);
        expect(Buffer.from(spliced.toBytes()).equals(expected)).toBe(true);
        expect(Buffer.concat(spliced.parts()).equals(expected)).toBe(true);
      }),
    );
  });
});

describe("a head's shape", () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 17\r\nx: y\r\n\r\n";

  test.each([
    ["the same length", head, 17],
    ["another one", head.replace("17", "4096"), 4_096],
    ["none", head.replace("17", "0"), 0],
  ])("fits a head with %s", (_, text, length) => {
    const shape = shapeOf(head, "17");
    expect(shape.fits(encode(`${text}{}`))).toBe(true);
    expect(shape).toMatchObject({ length, end: text.length });
  });

  test.each([
    ["no digits", head.replace("17", "")],
    ["a leading zero", head.replace("17", "017")],
    ["too many digits", head.replace("17", "1".repeat(11))],
    ["another status", head.replace("200", "201")],
    ["another field behind", head.replace("x: y", "x: z")],
    ["less of it", head.slice(0, -1)],
    ["no more than the length", head.slice(0, head.indexOf("17") + 2)],
  ])("does not fit one with %s", (_, text) => {
    expect(shapeOf(head, "17").fits(encode(text))).toBe(false);
  });
});

test("what is left of a decay is the power of one half, to seven digits", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 100, noNaN: true }), (halvings) => {
      expect(Math.abs(remaining(halvings * 250, 250) - 2 ** -halvings)).toBeLessThan(1e-7);
    }),
  );
});

test("what a turn brings is handled together, what comes meanwhile in the next one", async () => {
  const seen: number[][] = [];
  const queue = new TurnQueue<number>((items) => {
    seen.push([...items]);
    if (seen.length < 3) for (const item of items) queue.add(item + 10);
  });
  queue.add(1);
  queue.add(2);
  while (seen.length < 3) await new Promise(setImmediate);
  expect(seen).toEqual([
    [1, 2],
    [11, 12],
    [21, 22],
  ]);
});
