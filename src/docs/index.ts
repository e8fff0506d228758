export { docsRoutes, systemRoutes } from "./routes.ts";
