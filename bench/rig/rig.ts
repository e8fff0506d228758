import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answers } from "../../src/sandbox/nodes.ts";
import { type Child, createProcessGroup, type ProcessGroup } from "../../src/sandbox/processes.ts";
import { type Place, placed } from "./machine.ts";

const READY_TIMEOUT_MS = 20_000;
const LOG_TAIL = 1_500;

/** A server that answers. */
export interface RunningServer {
  readonly hostname: string;
  readonly port: number;
  readonly child: Child;
}

/** Starts and stops the processes of one scenario; none outlives this process. */
export interface Rig {
  readonly group: ProcessGroup;
  /** A directory for this scenario's files, removed at the end. */
  readonly dir: string;
  /** The file a process of the group writes its output to. */
  logOf(name: string): string;
  /** Starts a server and waits until it answers GET `probe` with 200. */
  serve(options: ServeOptions): Promise<RunningServer>;
  stop(): Promise<void>;
}

export interface ServeOptions {
  readonly name: string;
  readonly place: Place;
  readonly command: readonly string[];
  readonly port: number;
  readonly probe?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Makes an empty rig. */
export function createRig(): Rig {
  const dir = mkdtempSync(join(tmpdir(), "causeway-bench-"));
  const logs = join(dir, "logs");
  mkdirSync(logs);
  const group = createProcessGroup(logs);
  group.removeAtEnd(dir);
  const logOf = (name: string) => join(logs, `${name}.log`);
  return {
    group,
    dir,
    logOf,
    async serve({ name, place, command, port, probe = "/", env = {} }) {
      const child = group.spawn({ name, command: placed(place, command), env });
      const url = `http://127.0.0.1:${port}${probe}`;
      const deadline = performance.now() + READY_TIMEOUT_MS;
      while (child.running() && performance.now() < deadline) {
        if (await answers(url)) return { hostname: "127.0.0.1", port, child };
        await Bun.sleep(20);
      }
      const log = readFileSync(logOf(name), "utf8").slice(-LOG_TAIL);
      throw new Error(`${name} did not start; its log ends with:\n${log}`);
    },
    stop: () => group.stop(),
  };
}
