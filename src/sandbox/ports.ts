/** TCP ports of the loopback interface that were free a moment ago, all different. */
export function freePorts(count: number): number[] {
  const socket = { data() {} };
  const listeners = Array.from({ length: count }, () =>
    Bun.listen({ hostname: "127.0.0.1", port: 0, socket }),
  );
  for (const listener of listeners) listener.stop(true);
  return listeners.map(({ port }) => port);
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
