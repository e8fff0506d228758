import { summarise } from "./compareCandidates.ts";
import { createSubjects, type Subject } from "./micro/subjects.ts";
import type { RunOptions } from "./runScenario.ts";
import type { Result } from "./scenario.ts";

/** Part of `--seconds` that one repeat of one subject gets. */
const SHARE_OF_SECONDS = 0.05;
const FIRST_TIMES = 64;

/** Times hot functions alone, in this process, in turns. */
export async function runMicro({ repeats, seconds, progress }: RunOptions): Promise<Result> {
  const { subjects, close } = await createSubjects();
  const targetMs = seconds * 1_000 * SHARE_OF_SECONDS;
  try {
    const times = new Map<Subject, number>();
    for (const subject of subjects) times.set(subject, await calibrate(subject, targetMs));
    const runs = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
    for (let turn = 0; turn < repeats; turn++) {
      progress(`micro: ${turn + 1}/${repeats}`);
      for (const subject of subjects) {
        const count = times.get(subject) ?? FIRST_TIMES;
        runs.get(subject)?.push(((await timeMs(subject, count)) / count) * 1e6);
      }
    }
    return {
      scenario: "micro",
      title: "hot functions alone",
      headline: "nanoseconds",
      baseline: undefined,
      rows: subjects.map((subject) => ({
        name: subject.name,
        ratio: undefined,
        figures: { nanoseconds: summarise(runs.get(subject) ?? []) },
      })),
      series: [],
      notes: ["Awaiting the result is part of the asynchronous ones."],
    };
  } finally {
    close();
  }
}

/** How many calls fill the time; warms the compiler up meanwhile. */
async function calibrate(subject: Subject, targetMs: number): Promise<number> {
  let times = FIRST_TIMES;
  for (;;) {
    const ms = await timeMs(subject, times);
    if (ms >= targetMs / 2) return Math.ceil((times * targetMs) / ms / FIRST_TIMES) * FIRST_TIMES;
    times *= 2;
  }
}

async function timeMs(subject: Subject, times: number): Promise<number> {
  const startedAt = performance.now();
  await subject.run(times);
  return performance.now() - startedAt;
}
