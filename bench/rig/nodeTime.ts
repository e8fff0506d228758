import type { Candidate, Figures } from "../scenario.ts";
import { withFigures } from "../candidates.ts";
import type { RunningService } from "./service.ts";

/**
 * Adds to a candidate what its nodes had to do: calls per answer, time of a call, and the share of
 * an answer's time in which the service waited for a node.
 * @param operation - id in the operations table, such as `quote`
 */
export function withNodeTime(
  candidate: Candidate,
  service: RunningService,
  operation: string,
): Candidate {
  const read = async (): Promise<Figures> => {
    const text = await service.metrics();
    const answered = `causeway_http_request_duration_seconds_%{operation="${operation}"}`;
    return {
      calls: sumOf(text, "causeway_upstream_attempt_duration_seconds_count"),
      callSeconds: sumOf(text, "causeway_upstream_attempt_duration_seconds_sum"),
      answers: sumOf(text, answered.replace("%", "count")),
      answerSeconds: sumOf(text, answered.replace("%", "sum")),
    };
  };
  return withFigures(candidate, read, (before, after) => {
    const grown = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
    const [calls, answers] = [grown("calls"), grown("answers")];
    return {
      nodeCallsPerAnswer: calls / answers,
      nodeMsPerCall: calls === 0 ? 0 : (grown("callSeconds") / calls) * 1_000,
      nodeShareOfTime: grown("callSeconds") / grown("answerSeconds"),
    };
  });
}

/** Sum of a metric's rows that begin with a name, and labels where they are given. */
function sumOf(text: string, start: string): number {
  return text
    .split("\n")
    .filter((line) => line.startsWith(start))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
