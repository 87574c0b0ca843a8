export type { ActorQueue, ActorWorkItem, CausedAdds, ControllerQueue, QueuePair } from './actor-queue.js';
export { beginTerm, tellingOfRefusal } from './leader-term.js';
