export { swapExecutorAbi } from "./abi/swapExecutor.ts";
export {
  CREATE2_DEPLOYER,
  type ExecutorDeployment,
  executorDeployment,
  type ExecutorParameters,
  expectedExecutorCode,
} from "./deployment.ts";
export { type ExecutorChain, executorTable, type ExecutorVenue } from "./table.ts";
