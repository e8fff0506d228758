import { expect, test } from "bun:test";
import { member, parseExactJson } from "../../src/lib/exactJson.ts";

test("numbers keep the text they were written in; everything else is as JSON.parse gives it", () => {
  const text = '{"big":18446744073709551615,"price":1.10,"exponent":1e-7,"list":[1,"1",null,true]}';
  expect(parseExactJson(text)).toEqual({
    big: "18446744073709551615",
    price: "1.10",
    exponent: "1e-7",
    list: ["1", "1", null, true],
  });
});

test("what is not JSON throws", () => {
  for (const text of ["", "{", "NaN", "01", "{'a':1}"]) {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  }
});

test("a path through another shape ends in undefined, also through prototypes", () => {
  const data = { value: [{ amount: "1" }], text: "abc" };
  expect(member(data, "value", 0, "amount")).toBe("1");
  for (const path of [["value", 1, "amount"], ["text", "length"], ["constructor"], ["__proto__"]]) {
    expect(member(data, ...path)).toBeUndefined();
  }
  expect(member(null, "a")).toBeUndefined();
});
