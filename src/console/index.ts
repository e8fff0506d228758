export { upstreamsCommand } from "./command.ts";
export { type ConsoleDependencies, consoleRoutes } from "./routes.ts";
export { createUpstreamAdmin, readChanges, type UpstreamAdmin } from "./upstreams.ts";
