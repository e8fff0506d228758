export { createLiveRegistry, type LiveRegistry } from "./live.ts";
export {
  type Chain,
  type ChainRegistry,
  createRegistry,
  findToken,
  sameAddress,
  type Token,
  type Venue,
} from "./registry.ts";
