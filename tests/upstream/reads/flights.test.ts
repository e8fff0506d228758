import { describe, expect, test } from "bun:test";
import { seededRandom } from "../../../src/lib/clock.ts";
import { hashOf } from "../../../src/lib/hash.ts";
import { Flight, Flights } from "../../../src/upstream/reads/sharing.ts";

class Idle extends Flight<string> {
  constructor(flights: Flights<string>, method: string, key: string, hash = hashOf(key)) {
    const pilot = { arrived() {}, crashed() {} };
    super(flights, method, key, hash, 0, -1, pilot);
  }

  protected cancel(): void {}
}

describe("the flights under way", () => {
  test("are found as in a map, however they come and go", () => {
    const random = seededRandom(5);
    const flights = new Flights<string>();
    const expected = new Map<string, Idle>();
    const gone: Idle[] = [];
    for (let step = 0; step < 50_000; step++) {
      const method = random() < 0.5 ? "eth_call" : "eth_getBalance";
      const key = `[${Math.floor(random() * 2_000)}]`;
      const id = `${method} ${key}`;
      const known = expected.get(id);
      expect(flights.find(method, key, hashOf(key))).toBe(known);
      if (random() < 0.55) {
        const flight = new Idle(flights, method, key);
        flights.announce(flight);
        if (known) gone.push(known);
        expected.set(id, flight);
      } else if (known) {
        flights.forget(known);
        expected.delete(id);
        gone.push(known);
      }
      const late = gone.pop();
      // One that was replaced, or has landed, is forgotten without harm to those there are.
      if (late) flights.forget(late);
    }
  });

  test("are told apart where their hashes are the same", () => {
    const flights = new Flights<string>();
    const all = Array.from({ length: 200 }, (_, index) => {
      const flight = new Idle(flights, "eth_call", `[${index}]`, 7);
      flights.announce(flight);
      return flight;
    });
    for (const flight of all.filter((_, index) => index % 3 === 0)) flights.forget(flight);
    for (const [index, flight] of all.entries()) {
      const found = flights.find("eth_call", flight.key, 7);
      expect(found).toBe(index % 3 === 0 ? undefined : flight);
    }
  });
});
