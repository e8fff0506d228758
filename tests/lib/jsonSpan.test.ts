import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  endOfValue,
  findElements,
  findMembers,
  MemberScanner,
  scanArray,
  scanDocument,
  textOf,
  valueOf,
} from "../../src/lib/jsonSpan.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON text with white space strewn in and some characters of strings escaped. */
function spread(value: unknown, seed: number): string {
  const gaps = ["", " ", "\n\t", "\r "];
  let state = seed;
  const gap = () => gaps[(state = (state * 1_103_515_245 + 12_345) >>> 0) % gaps.length] ?? "";
  const write = (item: unknown): string => {
    if (Array.isArray(item)) return `[${gap()}${item.map((one) => gap() + write(one)).join(",")}]`;
    if (typeof item === "object" && item !== null) {
      const members = Object.entries(item).map(
        ([key, one]) => `${gap()}${JSON.stringify(key)}${gap()}:${gap()}${write(one)}${gap()}`,
      );
      return `{${members.join(",")}}`;
    }
    return JSON.stringify(item);
  };
  return gap() + write(value) + gap();
}

describe("scanDocument", () => {
  test("accepts every JSON text and finds its value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, seed) => {
        const bytes = encode(spread(value, seed));
        const span = scanDocument(bytes);
        expect(span).toBeDefined();
        expect(JSON.stringify(valueOf(bytes, span!))).toBe(JSON.stringify(value));
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });

  test("agrees with JSON.parse on every prefix and every one-character change", () => {
    const alphabet = fc.constantFrom(
      ...'{}[]":,\\ \n0123456789.-+eEtruefalsn/bu\t\u0001é'.split(""),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.nat(), alphabet, (value, seed, at, replacement) => {
        const text = spread(value, seed);
        const cut = at % (text.length + 1);
        for (const changed of [
          text.slice(0, cut),
          text.slice(0, cut) + replacement + text.slice(cut + 1),
          text.slice(0, cut) + replacement + text.slice(cut),
          text.slice(0, cut) + text.slice(cut + 1),
        ]) {
          expect([changed, scanDocument(encode(changed)) !== undefined]).toEqual([
            changed,
            isJson(changed),
          ]);
        }
      }),
      { numRuns: 4_000, seed: 2 },
    );
  });

  test("agrees with JSON.parse on random strings of JSON's own characters", () => {
    const text = fc
      .array(
        fc.constantFrom("{", "}", "[", "]", '"a"', ":", ",", "1", "-0.5e+3", "null", " ", "01"),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (candidate) => {
        expect(scanDocument(encode(candidate)) !== undefined).toBe(isJson(candidate));
      }),
      { numRuns: 5_000, seed: 3 },
    );
  });

  test.each([
    ['"\\ud83d\\u00"', false],
    ['"\\x"', false],
    ['"a\nb"', false],
    ["-", false],
    ["1.", false],
    ["1e", false],
    ["01", false],
    ["tru", false],
    ["NaN", false],
    ["{}{}", false],
    ["[1,]", false],
    ['{"a":1,}', false],
    ["", false],
    ["-0.0e-10", true],
    ['"\\u00e9\\/"', true],
  ])("%p: %p", (text, valid) => {
    expect(scanDocument(encode(text)) !== undefined).toBe(valid);
    expect(isJson(text)).toBe(valid);
  });

  test("agrees with JSON.parse on strings far longer than they are looked at in one go", () => {
    const specials = ['"', "\\", "\\n", "\\u00e9", "\u0001", "é", "\u007f", ""];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), fc.constantFrom(...specials)), {
          maxLength: 4,
        }),
        (runs) => {
          const text = `"${runs.map(([length, special]) => "x".repeat(length) + special).join("")}"`;
          expect(scanDocument(encode(text)) !== undefined).toBe(isJson(text));
        },
      ),
      { numRuns: 2_000, seed: 3 },
    );
  });

  test("skips a byte order mark and white space", () => {
    const bytes = encode('\uFEFF \r\n{"a":1}\n');
    const span = scanDocument(bytes);
    expect(textOf(bytes, span!)).toBe('{"a":1}');
  });

  test("refuses nesting beyond its bound without exhausting the stack", () => {
    expect(scanDocument(encode("[".repeat(8_000) + "]".repeat(8_000)))).toBeDefined();
    expect(scanDocument(encode("[".repeat(1_000_000)))).toBeUndefined();
    expect(scanDocument(encode("[".repeat(9_000) + "]".repeat(9_000)))).toBeUndefined();
  });
});

describe("findMembers", () => {
  const keys = ["id", "result", "error"];

  test("finds what JSON.parse finds, for any object", () => {
    const key = fc.oneof(fc.constantFrom(...keys), fc.string());
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), fc.nat(), (object, seed) => {
        const bytes = encode(spread(object, seed));
        const found = findMembers(bytes, scanDocument(bytes)!, keys);
        for (const [index, name] of keys.entries()) {
          const span = found?.[index];
          const own = Object.hasOwn(object, name);
          expect(span !== undefined).toBe(own);
          if (span) expect(JSON.stringify(valueOf(bytes, span))).toBe(JSON.stringify(object[name]));
        }
      }),
      { numRuns: 2_000, seed: 4 },
    );
  });

  test("takes the last of equal keys, and keys written with escapes", () => {
    const bytes = encode('{"id":1,"\\u0069d":2,"x":{"id":3},"result":"\\"}","i\\u0064":4}');
    const [id, result, error] = findMembers(bytes, scanDocument(bytes)!, keys)!;
    expect(textOf(bytes, id!)).toBe("4");
    expect(textOf(bytes, result!)).toBe('"\\"}"');
    expect(error).toBeUndefined();
  });

  test("gives undefined for what is not an object", () => {
    for (const text of ["[]", "1", '"{}"', "null"]) {
      const bytes = encode(text);
      expect(findMembers(bytes, scanDocument(bytes)!, keys)).toBeUndefined();
    }
  });
});

describe("findElements", () => {
  test("finds the elements of any array", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 20 }), fc.nat(), (array, seed) => {
        const bytes = encode(spread(array, seed));
        const spans = findElements(bytes, scanDocument(bytes)!, 100)!;
        const values = spans.map((span) => valueOf(bytes, span));
        expect(JSON.stringify(values)).toBe(JSON.stringify(array));
      }),
      { numRuns: 1_000, seed: 5 },
    );
  });

  test("stops one after the most it was asked for", () => {
    const bytes = encode("[1,2,3,4,5]");
    expect(findElements(bytes, scanDocument(bytes)!, 2)).toHaveLength(3);
  });
});

describe("one pass", () => {
  test("over an array finds what JSON.parse finds, and refuses what it refuses", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        fc.nat(),
        fc.nat(),
        (list, seed, at) => {
          const text = spread(list, seed);
          const cut = at % 2 === 0 ? text : text.slice(0, at % (text.length + 1));
          const bytes = encode(cut);
          const found: unknown[] = [];
          const isArray = scanArray(bytes, 8, (_, start) => {
            const end = endOfValue(bytes, start);
            if (end !== -1) found.push(valueOf(bytes, { start, end }));
            return end;
          });
          const parsed: unknown = isJson(cut) ? JSON.parse(cut) : undefined;
          expect(isArray).toBe(Array.isArray(parsed));
          if (isArray) expect(JSON.stringify(found)).toBe(JSON.stringify(parsed));
        },
      ),
      { numRuns: 2_000, seed: 1 },
    );
  });

  test("over an array stops at more elements than are allowed", () => {
    expect(scanArray(encode("[1,2,3]"), 3, endOfValue)).toBe(true);
    expect(scanArray(encode("[1,2,3]"), 2, endOfValue)).toBe(false);
  });

  test("over an object finds its members wherever the text begins, and forgets those before", () => {
    const scanner = new MemberScanner(["id", "result"]);
    const bytes = encode('xx{"result":[1],"id":7,"id":8} ');
    expect(scanner.scan(bytes, 2)).toBe(true);
    expect(textOf(bytes, scanner.spanOf(0)!)).toBe("8");
    expect(textOf(bytes, scanner.spanOf(1)!)).toBe("[1]");
    expect(scanner.scan(encode("{}"))).toBe(true);
    expect(scanner.spanOf(0)).toBeUndefined();
    expect(scanner.scan(encode("[]"))).toBe(false);
    expect(scanner.scan(encode('{"id":1}x'))).toBe(false);
  });
});
