export { Manager } from './manager.js';
export { NotedInformers, missingOf, readabilityOf, troublesOf } from './needs.js';
export type { ControllerTroubles, NeededInformer } from './needs.js';
export type {
  Elector,
  InformerGroup,
  LeaderRunnable,
  ManagedController,
  ManagerOptions,
  ManagerState,
  Runnable,
} from './manager.js';
export { dueInSlots } from './slotted-work.js';
export type { SlotWork } from './slotted-work.js';
