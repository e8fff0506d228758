import { composeService } from "../../src/compose.ts";
import { loadConfig } from "../../src/config/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

/**
 * The whole service, but for its charges: they are counted out and never written. What the
 * difference to the real one costs is what exact metering costs.
 */
const config = loadConfig();
const service = await composeService(config, createLogger(config.logLevel), () => true);
const { access } = service;
const meter: typeof access.meter = {
  ...access.meter,
  enter: (_charge, target) => target.charged(undefined),
};
Object.assign(access, { meter });
service.front.listen({ hostname: config.listen.host, port: config.listen.port });
