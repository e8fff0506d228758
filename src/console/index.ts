export { upstreamsCommand } from "./command.ts";
export { createConsole, type DeveloperConsole } from "./console.ts";
export { consoleRoutes } from "./routes.ts";
export { createUpstreamAdmin, readChanges, type UpstreamAdmin } from "./upstreams.ts";
