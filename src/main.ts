import { composeService } from "./compose.ts";
import { type Config, ConfigError, loadConfig } from "./config/index.ts";
import { systemClock } from "./lib/clock.ts";
import { createLogger, type Logger } from "./telemetry/index.ts";

/** Requests in flight get this long to finish after a signal to stop, ms. */
const DRAIN_MS = 10_000;

/** Builds the service, listens, starts its timers, and drains on a signal. */
async function start(config: Config, log: Logger): Promise<void> {
  let ready = true;
  const { host, port, tls } = config.listen;
  const service = await composeService(config, log, () => ready);
  const { app, prices, bridge, madeAdminToken } = service;
  app.listen({
    hostname: host,
    port,
    ...(tls && { tls: { cert: Bun.file(tls.certFile), key: Bun.file(tls.keyFile) } }),
  });
  prices.start();
  bridge.start();
  log.info({ url: app.server?.url.href }, "listening");
  if (madeAdminToken) {
    process.stderr.write(`Operator token, shown this once: ${madeAdminToken}\n`);
  }

  const stop = async () => {
    if (!ready) return;
    ready = false;
    log.info({ inFlight: app.server?.pendingRequests }, "draining");
    prices.stop();
    service.drain();
    const stopped = Promise.all([app.stop(), bridge.stop()]);
    await Promise.race([stopped, systemClock.sleep(DRAIN_MS)]);
    service.close();
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

try {
  const config = loadConfig();
  await start(config, createLogger(config.logLevel));
} catch (error) {
  const known = error instanceof ConfigError || isPortInUse(error);
  process.stderr.write(`${known ? error.message : Bun.inspect(error)}\n`);
  process.exit(1);
}

function isPortInUse(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}
