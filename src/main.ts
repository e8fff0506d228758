import { composeService, type Service } from "./compose.ts";
import { type Config, ConfigError, loadConfig } from "./config/index.ts";
import { systemClock } from "./lib/clock.ts";
import { createLogger, type Logger } from "./telemetry/index.ts";
import { onSupervisorGone, superviseWorkers, WORKER_FLAG } from "./workers.ts";

/** Requests in flight get this long to finish once no new ones are taken, ms. */
const DRAIN_MS = 10_000;
/** Storing what was gathered may take this long, ms; a database that is away is not waited for. */
const CLOSE_MS = 2_000;

/** Builds the service, listens and starts its timers. */
async function start(config: Config, log: Logger): Promise<void> {
  let ready = true;
  const service = await composeService(config, log, () => ready);
  const { front, prices, bridge, replicas, madeAdminToken } = service;
  const { host, port, tls, workers } = config.listen;
  front.listen({ hostname: host, port, tls, reusePort: workers > 1 });
  prices.start();
  bridge.start();
  await replicas.start();
  log.info({ url: front.url }, "listening");
  if (madeAdminToken) {
    process.stderr.write(`Operator token, shown this once: ${madeAdminToken}\n`);
  }

  const hurry = new AbortController();
  const stop = async (noticeMs: number) => {
    // Asked again, it stops waiting for balancers.
    if (!ready) return hurry.abort();
    ready = false;
    await drain(service, log, noticeMs, hurry.signal);
    process.exit(0);
  };
  process.on("SIGTERM", () => stop(config.listen.drainNoticeMs));
  process.on("SIGINT", () => stop(0));
  process.on("SIGHUP", () => service.reload());
  if (process.argv.includes(WORKER_FLAG)) void onSupervisorGone(() => stop(0));
}

/**
 * Ends the service without failing a request: first it says that it is not ready and closes
 * connections as it answers, so that balancers turn away; then it takes no new connections and
 * finishes what is in flight, within a deadline.
 */
async function drain(
  service: Service,
  log: Logger,
  noticeMs: number,
  hurry: AbortSignal,
): Promise<void> {
  const { front, access, prices, bridge } = service;
  log.info({ inFlight: front.inFlight, noticeMs }, "draining");
  access.isDraining = true;
  if (noticeMs > 0) await systemClock.sleep(noticeMs, hurry).catch(() => undefined);
  prices.stop();
  service.closeSockets();
  const stopped = Promise.all([front.stop(), bridge.stop()]);
  await Promise.race([stopped, systemClock.sleep(DRAIN_MS)]);
  await Promise.race([service.close(), systemClock.sleep(CLOSE_MS)]);
  log.info({}, "stopped");
}

async function main(): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config.logLevel);
  const { workers } = config.listen;
  if (workers === 1 || process.argv.includes(WORKER_FLAG)) return start(config, log);
  await superviseWorkers(workers, [process.execPath, import.meta.path], log);
  process.exit(0);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const isPortInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  if (!isPortInUse) return Bun.inspect(error);
  return `${error.message} Another process listens there; several can share a port with WORKERS, on Postgres and Redis.`;
}
