export type { ActorQueue, ActorWorkItem, CausedAdds, ControllerQueue, QueuePair } from './actor-queue.js';
