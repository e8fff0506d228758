import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../src/lib/clock.ts";
import { Ring, RingItem } from "../../src/lib/ring.ts";

class Numbered extends RingItem {
  constructor(readonly number: number) {
    super();
  }
}

const numbersIn = (ring: Ring<Numbered>) => ring.list().map(({ number }) => number);

describe("a ring", () => {
  test("has its items in the order in which they came, as a set would", () => {
    const random = seededRandom(9);
    const items = Array.from({ length: 50 }, (_, number) => new Numbered(number));
    const ring = new Ring<Numbered>();
    const expected = new Set<number>();
    for (let step = 0; step < 5_000; step++) {
      const item = items[Math.floor(random() * items.length)]!;
      expected.delete(item.number);
      if (random() < 0.5) {
        ring.add(item);
        expected.add(item.number);
      } else {
        item.leaveRing();
      }
      expect(numbersIn(ring)).toEqual([...expected]);
    }
  });

  test("is left by items while its list is gone through", () => {
    const ring = new Ring<Numbered>();
    for (let number = 0; number < 5; number++) ring.add(new Numbered(number));
    const items = ring.list();
    const seen = items.map((item) => {
      for (const other of items) other.leaveRing();
      return item.number;
    });
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    expect(numbersIn(ring)).toEqual([]);
  });

  test("takes in an item that is in another one", () => {
    const [one, other] = [new Ring<Numbered>(), new Ring<Numbered>()];
    const item = new Numbered(1);
    one.add(item);
    other.add(item);
    expect([numbersIn(one), numbersIn(other)]).toEqual([[], [1]]);
  });
});
