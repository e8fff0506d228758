import { composeService } from "../../src/compose.ts";
import { loadConfig } from "../../src/config/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

/**
 * The whole service, but for its charges: they are counted out and never written. What the
 * difference to the real one costs is what exact metering costs.
 */
const config = loadConfig();
const service = await composeService(config, createLogger(config.logLevel), () => true);
const { meter } = service.access;
Object.assign(service.access, {
  meter: { ...meter, enter: (_: unknown, done: () => void) => done() },
});
service.front.listen({ hostname: config.listen.host, port: config.listen.port });
