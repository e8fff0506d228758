import { createRig } from "./rig/rig.ts";
import type { Source } from "./rig/service.ts";
import type { Result, Scenario } from "./scenario.ts";

export interface RunOptions {
  readonly sources: readonly Source[];
  readonly withReferences: boolean;
  readonly repeats: number;
  readonly seconds: number;
  readonly isQuick: boolean;
  readonly progress: (text: string) => void;
}

/** Runs a scenario with processes of its own, which end with it. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<Result> {
  const rig = createRig();
  try {
    return await scenario.run({
      ...options,
      rig,
      progress: (text) => options.progress(`${scenario.name}: ${text}`),
    });
  } finally {
    await rig.stop();
  }
}
