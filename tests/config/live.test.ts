import { expect, test } from "bun:test";
import { loadConfig } from "../../src/config/index.ts";
import { createLiveConfig } from "../../src/config/live.ts";

const read = (file: object) => loadConfig({ CAUSEWAY_CONFIG: "x" }, () => JSON.stringify(file));

test("limits change under those who hold the configuration; the rest is named and stays", () => {
  const live = createLiveConfig(read({}));
  const { access, bridge, swap } = live.config;
  const changed = live.replace(
    read({
      access: { defaultWindowLimit: 7 },
      bridge: { enabled: false, limits: { perTransferUsdc: "5" }, retryMs: 1 },
      swap: { platformFeeBps: 9, auditShare: 1 },
      prices: { refreshMs: 1 },
      networks: { useDefaultUpstreams: false },
    }),
  );
  expect(access.defaultWindowLimit).toBe(7);
  expect(swap).toMatchObject({ platformFeeBps: 9, auditShare: 0.01 });
  expect(bridge).toMatchObject({ enabled: false, retryMs: 5_000 });
  expect(bridge.limits.perTransferAtomic).toBe(5_000_000n);
  expect(changed).toEqual(["swap", "prices", "bridge"]);
});

test("the same configuration again changes nothing", () => {
  expect(createLiveConfig(read({})).replace(read({}))).toEqual([]);
});
