import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type { EarlyAcquisition } from '../actor/index.js';
import type {
  AddOptions,
  LeaderAdds,
  LeaderTerm,
  WorkItem,
  WorkQueue,
  WorkQueueConsumer,
  WorkQueueInspector,
  WorkQueueTending,
} from '../work-queue/index.js';

/** The adds of one term to a queue whose runs are activations of actors. */
export interface CausedAdds extends LeaderAdds {
  /**
   * Adds the key and records for its actor which versions the run must have seen, in one step. Absent if that cannot be
   * one step; record the causes before the add then, so that the worker that gets the key finds them.
   */
  readonly addWithCauses?: (key: string, causes: ResourceVersions, options?: AddOptions) => Promise<void>;
}

/** A work queue whose runs are activations of actors. Any {@link WorkQueue} qualifies, without `addWithCauses`. */
export interface ActorQueue extends WorkQueue {
  beginTerm(term: LeaderTerm): Promise<CausedAdds>;
}

/** A key handed to a worker, to run the key's actor. */
export interface ActorWorkItem extends WorkItem {
  /** The actor's lock, if it was requested in the step that started the run. */
  readonly early?: EarlyAcquisition;
}

/** The complete interface of a controller's queue. Users declare the part that they need. */
export type ControllerQueue = ActorQueue & WorkQueueInspector & WorkQueueTending;

/** The two sides of one controller's queue. */
export interface QueuePair {
  readonly queue: ControllerQueue;
  readonly consumer: WorkQueueConsumer<ActorWorkItem>;
  /**
   * Drops every key once this replica no longer leads: the next leader finds them again, and here they would count as
   * waiting for ever. @default keys are shared, and stay
   */
  readonly dropKeys?: () => void;
}
