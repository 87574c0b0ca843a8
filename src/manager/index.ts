export { Manager } from './manager.js';
export { NotedInformers, missingOf } from './needs.js';
export type { NeededInformer } from './needs.js';
export type {
  Elector,
  InformerGroup,
  ManagedController,
  ManagerOptions,
  ManagerState,
  Runnable,
} from './manager.js';
