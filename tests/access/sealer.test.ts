import { expect, test } from "bun:test";
import { createSealer } from "../../src/access/sealer.ts";

const pepper = (byte: number) => new Uint8Array(32).fill(byte);
const text = "https://node.example/v2/key?x=ü";

test("what was sealed is read with the same secret only, and not at all once changed", () => {
  const sealer = createSealer(pepper(1));
  const sealed = sealer.seal(text);
  expect(sealed).not.toContain("node");
  expect(createSealer(pepper(1)).unseal(sealed)).toBe(text);
  expect(createSealer(pepper(2)).unseal(sealed)).toBeUndefined();
  const bytes = Buffer.from(sealed, "base64");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(sealer.unseal(changed.toString("base64"))).toBeUndefined();
  }
  for (const nonsense of ["", "AAAA", "not base64!", sealed.slice(0, 20)]) {
    expect(sealer.unseal(nonsense)).toBeUndefined();
  }
});

test("the same text is sealed differently each time", () => {
  const sealer = createSealer(pepper(1));
  expect(sealer.seal(text)).not.toBe(sealer.seal(text));
});
