export { Manager } from './manager.js';
export type {
  Elector,
  InformerGroup,
  LeaderRunnable,
  ManagedController,
  ManagerOptions,
  ManagerState,
  Runnable,
} from './manager.js';
