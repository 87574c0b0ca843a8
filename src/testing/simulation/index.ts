export { ApiNetwork } from './api-network.js';
export type { ApiTrouble } from './api-network.js';
export {
  FAULT_KINDS,
  MEMBER_FAULT_KINDS,
  STORE_FAULT_KINDS,
  STORM,
  diceOf,
  planFaults,
} from './fault-kinds.js';
export type { Dice, FaultKind, MemberFaultKind, PlannedFault, StoreFaultKind } from './fault-kinds.js';
export { Faults } from './faults.js';
export { Kernel } from './kernel.js';
export type { CompletionOwner, KernelOptions, Pending } from './kernel.js';
export { ConnectionBrokenError, FAIR_WEATHER, Network } from './network.js';
export type { Weather } from './network.js';
export { ProcessClock, SimulatedProcess } from './process.js';
export type { ProcessOptions } from './process.js';
export { Replica, simulatedClient } from './replica.js';
export type { ReplicaOptions, RunningReplica } from './replica.js';
export { ServedQueue } from './served-queue.js';
export { simulateOperator } from './simulate-operator.js';
export type {
  OperatorProblem,
  SimulateOperatorOptions,
  SimulatedOperator,
  SimulatedUser,
  StoredObjects,
} from './simulate-operator.js';
export { SimulatedApi } from './simulated-api.js';
export type { StoredChange } from './simulated-api.js';
export { simulatedCoordination } from './simulated-coordination.js';
export type { CoordinationViews } from './simulated-coordination.js';
export { SimulatedNodes } from './simulated-nodes.js';
export { SimulatedStore } from './simulated-store.js';
export { Trace } from './trace.js';
export type { TraceLine } from './trace.js';
export { World } from './world.js';
export type { WorldOptions } from './world.js';
export type { ReachableRedis, StoredQueue, WorldStore } from './world-store.js';
