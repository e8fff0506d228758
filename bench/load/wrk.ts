import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadJob, LoadReport } from "./job.ts";
import { KEY_LINE, type Mark, renderParts, spreadByWeight } from "./request.ts";

/** How a mark is filled, in Lua. `random` is seeded per run; `sent` counts requests. */
const fillings: Readonly<Record<Mark, string>> = {
  address: "hex8()..hex8()..hex8()..hex8()..hex8()",
  id: "(1000000000 + sent % 1000000000)",
  number: "random(100, 999)",
  key: `key(random(0, #keys / ${KEY_LINE} - 1) * ${KEY_LINE})`,
};

/** The wrk script of a job: requests as `createRequestSource` makes them, and a report in JSON. */
export function wrkScript({ target }: LoadJob, seed: number): string {
  const makers = target.requests.map((template) => {
    const pieces = renderParts(target, template).map((part) =>
      "mark" in part ? fillings[part.mark] : luaString(part.text),
    );
    return `function() return ${pieces.join("..")} end`;
  });
  const order = spreadByWeight(target.requests.map(({ weight }) => weight));
  return `
math.randomseed(${seed})
local random, format, sent = math.random, string.format, 0
local keys = ${target.keysFile === undefined ? '""' : `io.open(${luaString(target.keysFile)}):read("*a")`}
local function key(start) return keys:sub(start + 1, start + ${KEY_LINE - 1}) end
local function hex8() return format("%04x%04x", random(0, 65535), random(0, 65535)) end
local makers = { ${makers.join(",\n")} }
local order = { ${order.map((index) => index + 1).join(",")} }
function request()
  sent = sent + 1
  return makers[order[sent % #order + 1]]()
end
function done(summary, latency)
  local e = summary.errors
  local function ms(p) return latency:percentile(p) / 1000 end
  io.write(format('REPORT {"requests":%d,"us":%d,"bytes":%d,"failures":%d,', summary.requests,
    summary.duration, summary.bytes, e.connect + e.read + e.write + e.status + e.timeout))
  io.write(format('"p50Ms":%f,"p90Ms":%f,"p99Ms":%f,"p999Ms":%f,"maxMs":%f}\\n',
    ms(50), ms(90), ms(99), ms(99.9), latency.max / 1000))
end
`;
}

/** Reads what the script's `done` wrote. */
export function readWrkReport(output: string): LoadReport {
  const line = /^REPORT (.*)$/m.exec(output)?.[1];
  if (!line) throw new Error(`wrk gave no report:\n${output}`);
  const { requests, us, bytes, failures, ...latencies } = JSON.parse(line);
  const seconds = us / 1e6;
  return {
    answers: requests,
    requestsPerSecond: (requests - failures) / seconds,
    megabytesPerSecond: bytes / 1e6 / seconds,
    failures,
    slices: [],
    ...latencies,
  };
}

/** Command line of a closed-loop run with wrk. */
export function wrkCommand(wrk: string, job: LoadJob, dir: string): string[] {
  const script = join(dir, "load.lua");
  writeFileSync(script, wrkScript(job, Date.now() % 1_000_000));
  const { hostname, port } = job.target;
  return [
    wrk,
    "--threads=1",
    `--connections=${job.clients}`,
    `--duration=${Math.max(1, Math.round(job.seconds))}s`,
    "--timeout=10s",
    `--script=${script}`,
    `http://${hostname}:${port}/`,
  ];
}

function luaString(text: string): string {
  return `"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\r", "\\r")
    .replaceAll("\n", "\\n")}"`;
}
