import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcessGroup, type ProcessGroup } from "../../src/sandbox/processes.ts";

let processes: ProcessGroup | undefined;

/** Children of this test process; they end when it does, however it ends. */
export function testProcesses(): ProcessGroup {
  return (processes ??= createProcessGroup());
}

/** A directory that is removed when this process ends. */
export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), "causeway-test-"));
  testProcesses().removeAtEnd(dir);
  return dir;
}
