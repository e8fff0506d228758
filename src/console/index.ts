export { type ConsoleDependencies, consoleRoutes } from "./routes.ts";
