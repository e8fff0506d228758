import type { LoadFigures } from "./load/job.ts";
import { createRequestSource, type RequestTemplate, type Target } from "./load/request.ts";
import { openConnection } from "./load/connection.ts";
import { runLoad } from "./load/run.ts";
import { cpuMicros } from "./rig/cpuTime.ts";
import type { RunningServer } from "./rig/rig.ts";
import type { RunningService } from "./rig/service.ts";
import type { Bench, Candidate, Figures } from "./scenario.ts";

/** How a server is loaded. */
export interface LoadOptions {
  readonly clients: number;
  /** As in `LoadJob`. */
  readonly rate?: number;
  /** Which figures to show; the report's own names. */
  readonly figures: readonly (keyof LoadFigures)[];
}

/** Enough to keep a server busy. */
const WARM_UP_CLIENTS = 64;

/** Figures of closed-loop runs that ask how much. */
export const throughputFigures = ["requestsPerSecond", "p50Ms", "p99Ms", "failures"] as const;

/**
 * A candidate that is loaded over HTTP.
 * @param server - the measured process; when given, the CPU time of an answer is shown too
 */
export function httpCandidate(
  bench: Bench,
  name: string,
  target: Target,
  { clients, rate, figures }: LoadOptions,
  server?: RunningServer,
): Candidate {
  return {
    name,
    check: () => checkAnswers(name, target),
    // Full load, whatever the measured rate is: the compiler waits for enough calls of a function.
    warmUp: (seconds) =>
      runLoad(
        { target, seconds, clients: Math.min(clients, WARM_UP_CLIENTS), rate: undefined },
        bench.rig.dir,
      ),
    async measure(seconds) {
      const before = server && cpuMicros(server.child.pid);
      const report = await runLoad({ target, seconds, clients, rate }, bench.rig.dir);
      const after = server && cpuMicros(server.child.pid);
      const shown = Object.fromEntries(figures.map((figure) => [figure, report[figure]]));
      if (before === undefined || after === undefined) return shown;
      return { ...shown, cpuMicrosPerAnswer: (after - before) / report.answers };
    },
  };
}

/** The same measurement with figures of the service's own added. */
export function withFigures(
  candidate: Candidate,
  read: () => Promise<Figures>,
  derive: (before: Figures, after: Figures, run: Figures) => Figures,
): Candidate {
  return {
    ...candidate,
    async measure(seconds) {
      const before = await read();
      const run = await candidate.measure(seconds);
      return { ...run, ...derive(before, await read(), run) };
    },
  };
}

/** What a server other than the service is asked. */
export function targetOf(
  { hostname, port }: Pick<RunningServer, "hostname" | "port">,
  requests: readonly RequestTemplate[],
  expects: string,
): Target {
  return { hostname, port, requests, expects };
}

/** What the service is asked: the same requests under a path of its own, with its key. */
export function serviceTarget(
  service: RunningService,
  requests: readonly RequestTemplate[],
  expects: string,
  path?: string,
): Target {
  const keyed = requests.map((request) => ({
    ...request,
    path: path ?? request.path,
    headers: { ...request.headers, "x-api-key": service.key },
  }));
  return targetOf(service, keyed, expects);
}

/** Asks one request of each kind and looks at the answer. */
async function checkAnswers(name: string, target: Target): Promise<void> {
  for (const request of target.requests) {
    const next = createRequestSource({ ...target, requests: [request] }, Math.random);
    const connection = await openConnection(target.hostname, target.port, target.expects);
    const answer = await new Promise<{ right: boolean; status: number } | undefined>((resolve) =>
      connection.send(next(), resolve),
    );
    connection.close();
    if (answer?.right) continue;
    const seen = answer ? `status ${answer.status}` : "no complete answer";
    throw new Error(`${name} gives a wrong answer to ${request.path}: ${seen}`);
  }
}
