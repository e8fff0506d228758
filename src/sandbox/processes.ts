import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** A running child process. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  running(): boolean;
  /** Settles with the exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Asks it to end, and kills it when it has not within `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

export interface ChildOptions {
  /** Names the log file too. */
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Children that never outlive this process, however it ends. */
export interface ProcessGroup {
  readonly children: readonly Child[];
  spawn(options: ChildOptions): Child;
  /** Has a directory removed when the group, or this process, ends. */
  removeAtEnd(dir: string): void;
  /** Stops every child, the youngest first, then the guard. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 5_000;

/**
 * Starts an empty group. A guard process reads from a pipe this process holds open; when the pipe
 * closes, because this process ended in any way, the guard ends the children that are left.
 * @param logDir - receives `<name>.log` per child; undefined discards their output
 */
export function createProcessGroup(logDir?: string): ProcessGroup {
  if (logDir) mkdirSync(logDir, { recursive: true });
  const guard = Bun.spawn([process.execPath, "--smol", join(import.meta.dir, "guard.ts")], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "inherit",
  });
  guard.unref();
  const tell = (line: string) => {
    guard.stdin.write(`${line}\n`);
    guard.stdin.flush();
  };
  const children: Child[] = [];

  function spawn(options: ChildOptions): Child {
    const output = logDir ? Bun.file(join(logDir, `${options.name}.log`)) : ("ignore" as const);
    const running = Bun.spawn([...options.command], {
      stdin: "ignore",
      stdout: output,
      stderr: output,
      env: { ...process.env, ...options.env },
    });
    tell(`+${running.pid}`);
    const exited = running.exited.then(() => {
      tell(`-${running.pid}`);
      return running.exitCode;
    });
    // The caller's own work keeps it alive; a child alone must not.
    running.unref();
    const alive = () => running.exitCode === null && running.signalCode === null;
    const child: Child = {
      name: options.name,
      pid: running.pid,
      running: alive,
      exited,
      stop: async (graceMs = STOP_GRACE_MS) => {
        if (!alive()) return;
        running.ref();
        running.kill("SIGTERM");
        const timer = setTimeout(() => running.kill("SIGKILL"), graceMs);
        await running.exited;
        clearTimeout(timer);
      },
    };
    children.push(child);
    return child;
  }

  return {
    children,
    spawn,
    removeAtEnd: tell,
    async stop() {
      await Promise.all(children.toReversed().map((child) => child.stop()));
      guard.ref();
      await guard.stdin.end();
      await guard.exited;
    },
  };
}
