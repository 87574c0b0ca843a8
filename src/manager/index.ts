export { Manager } from './manager.js';
export type {
  Elector,
  InformerGroup,
  ManagedController,
  ManagerOptions,
  ManagerState,
  Runnable,
} from './manager.js';
