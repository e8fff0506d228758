import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compareCandidates } from "../../bench/compareCandidates.ts";
import { machineState } from "../../bench/rig/machine.ts";
import { saveResult } from "../../bench/report/save.ts";
import { renderTable } from "../../bench/report/table.ts";
import { runScenario } from "../../bench/runScenario.ts";
import type { Bench, Candidate, Scenario } from "../../bench/scenario.ts";
import { proxyCandidates } from "../../bench/scenarios/proxies.ts";
import { mixedRequests } from "../../bench/scenarios/rpcRequests.ts";
import { scenarios } from "../../bench/scenarios/index.ts";

const root = resolve(import.meta.dir, "../..");

/** Two services under a light closed loop. */
const tiny: Scenario = {
  name: "tiny",
  title: "JSON-RPC calls of four clients",
  async run(bench) {
    const load = { clients: 4, figures: ["requestsPerSecond", "failures"] } as const;
    const candidates = await proxyCandidates(bench, mixedRequests, load);
    return compareCandidates(bench, this, candidates, {
      headline: "requestsPerSecond",
      baselines: ["causeway one"],
    });
  },
};

describe("bench", () => {
  test("a short scenario starts what it needs, measures, and reports", async () => {
    const result = await runScenario(tiny, {
      sources: [
        { label: "causeway one", dir: root },
        { label: "causeway two", dir: root },
      ],
      withReferences: false,
      repeats: 1,
      seconds: 1,
      isQuick: true,
      progress: () => {},
    });
    expect(result.rows.map(({ name }) => name)).toEqual(["causeway one", "causeway two"]);
    for (const { figures } of result.rows) {
      expect(figures["failures"]!.median).toBe(0);
      expect(figures["requestsPerSecond"]!.median).toBeGreaterThan(1);
    }
    expect(renderTable(result)).toContain("Ratio: requestsPerSecond relative to causeway one.");

    const dir = mkdtempSync(join(tmpdir(), "causeway-test-"));
    saveResult(dir, result, machineState());
    expect(readdirSync(dir).sort()).toEqual(["tiny.json", "tiny.svg"]);
    expect(await Bun.file(join(dir, "tiny.svg")).text()).toContain("causeway two");
    rmSync(dir, { recursive: true });
  }, 60_000);

  test("a candidate with wrong answers is not measured", async () => {
    const wrong: Candidate = {
      name: "wrong",
      check: async () => {
        throw new Error("wrong gives a wrong answer");
      },
      measure: async () => ({}),
    };
    const bench = { repeats: 1, seconds: 1, progress() {} } as unknown as Bench;
    const run = compareCandidates(bench, tiny, [wrong], { headline: "x", baselines: [] });
    expect(run).rejects.toThrow("wrong gives a wrong answer");
  });

  test("scenarios have names of their own", () => {
    const names = scenarios.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
