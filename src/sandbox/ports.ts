/**
 * Ports are drawn from below the range the system gives to outgoing connections (32768 and up on
 * Linux), so that none is taken between being found free and being listened on, except by another
 * sandbox that drew the same one of twenty thousand.
 */
const FIRST_PORT = 11_000;
const LAST_PORT = 31_999;
const MAX_DRAWS = 1_000;

/** TCP ports of the loopback interface that are free, all different. */
export function freePorts(count: number): number[] {
  const found = new Set<number>();
  for (let draw = 0; found.size < count; draw++) {
    if (draw === MAX_DRAWS) throw new Error("no free port");
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
    if (isFree(port)) found.add(port);
  }
  return [...found];
}

/** One such port. */
export function freePort(): number {
  const [port] = freePorts(1);
  if (port === undefined) throw new Error("no free port");
  return port;
}

/** Whether nothing listens on a port of the loopback interface. */
export function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
