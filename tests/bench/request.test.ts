import { describe, expect, test } from "bun:test";
import { createRequestSource, spreadByWeight, type Target } from "../../bench/load/request.ts";
import { seededRandom } from "../../src/lib/clock.ts";

const target: Target = {
  hostname: "127.0.0.1",
  port: 80,
  expects: "",
  requests: [
    {
      method: "POST",
      path: "/a",
      headers: { "x-api-key": "k" },
      body: '["0x@ADDRESS@",@ID@]',
      weight: 3,
    },
    { method: "GET", path: "/b", headers: {}, weight: 1 },
  ],
};

describe("requests of the load generators", () => {
  test("no two bodies are the same, and each has the length its head declares", () => {
    const next = createRequestSource(target, seededRandom(1));
    const bodies = new Set<string>();
    for (let sent = 0; sent < 400; sent++) {
      const [head = "", body = ""] = next().split("\r\n\r\n");
      if (head.startsWith("GET")) continue;
      expect(head).toContain(`content-length: ${body.length}\r\n`);
      bodies.add(body);
    }
    expect(bodies.size).toBe(300);
  });

  test("weights decide how often each is sent, evenly mixed", () => {
    const order = spreadByWeight([40, 15, 5]);
    const count = (index: number) => order.filter((one) => one === index).length;
    expect([count(0), count(1), count(2)]).toEqual([40, 15, 5]);
    expect(order.join("")).not.toContain("0000000");
  });
});
