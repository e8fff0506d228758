export { createFront, type Front, type ListenAt } from "./front.ts";
