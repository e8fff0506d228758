/** A load balancer of the plain kind: asks /ready, takes turns, and sends nothing twice. */
export interface Balancer {
  readonly origin: string;
  stop(): Promise<void>;
}

const PROBE_MS = 50;

/**
 * Starts a balancer. A request goes to another server only when the first refused the connection,
 * so that it cannot have been seen; everything else that fails is answered with 502.
 */
export function startBalancer(origins: readonly string[]): Balancer {
  const ready = new Set(origins);
  const stopping = new AbortController();
  let next = 0;

  const probe = async (origin: string) => {
    while (!stopping.signal.aborted) {
      const isReady = await fetch(`${origin}/ready`, { signal: AbortSignal.timeout(5_000) })
        .then((answer) => answer.ok)
        .catch(() => false);
      if (isReady) ready.add(origin);
      else ready.delete(origin);
      await Bun.sleep(PROBE_MS);
    }
  };
  const probes = origins.map(probe);

  const forward = async (request: Request): Promise<Response> => {
    const body = request.body ? await request.arrayBuffer() : null;
    const { pathname, search } = new URL(request.url);
    for (let attempt = 0; attempt < origins.length; attempt++) {
      const candidates = [...ready];
      const origin = candidates[next++ % candidates.length];
      if (!origin) break;
      try {
        const { method, headers } = request;
        const answer = await fetch(origin + pathname + search, { method, headers, body });
        return new Response(await answer.arrayBuffer(), answer);
      } catch (error) {
        if (!isRefused(error)) break;
        ready.delete(origin);
      }
    }
    return new Response(null, { status: 502 });
  };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 60, fetch: forward });

  return {
    origin: `http://127.0.0.1:${server.port}`,
    async stop() {
      stopping.abort();
      await Promise.all(probes);
      await server.stop(true);
    },
  };
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ConnectionRefused";
}
