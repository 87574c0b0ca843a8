import type { ResourceVersions } from '@rollkeeper/machinery/kubernetes';
import type {
  AddOptions,
  ConsumeOptions,
  BegunTerm,
  LeaderTerm,
  WorkItem,
  WorkQueue,
  WorkQueueInspector,
  WorkQueueTending,
} from '../work-queue/index.js';
import type { Activation, WorkLimit } from './activation.js';

/** The fate of a key after its run. */
export type ActivationOutcome =
  | { readonly action: 'done' }
  | { readonly action: 'requeue-after'; readonly delayMs: number }
  /** Not the key's fault: come back without counting a failure. */
  | { readonly action: 'come-back'; readonly delayMs: number; readonly why: string }
  /** With backoff, at least `leastDelayMs`. */
  | { readonly action: 'retry'; readonly error: unknown; readonly leastDelayMs: number }
  /** No retry resolves it. */
  | { readonly action: 'park'; readonly error: unknown };

/** A key that this replica has taken. No other replica has it until its run has ended. */
export interface TakenKey {
  readonly item: WorkItem;
  /** Aborts when the hold on the key is lost, or when the source's run asks for the end. */
  readonly signal: AbortSignal;
  /**
   * Runs `work` as the only activation of the key.
   * @throws KeyLockHeldError, KeyLockLostError, SyncTimeoutError: see `ActorRuntime.activate`
   */
  activate<R>(work: (activation: Activation) => Promise<R>, limit?: WorkLimit): Promise<R>;
  /**
   * Gives the key back. Retried until the queue has taken it or `signal` aborts: a lost outcome would be a lost key.
   * @returns whether the key is parked now; not if a run of it waits, because of a change during this one
   */
  complete(outcome: ActivationOutcome): Promise<{ readonly parked: boolean }>;
}

/** The options of {@link Activations.run}. */
export interface TakeOptions extends ConsumeOptions {
  /** Aborted: runs in progress are cancelled, and their keys are handed over. @default never */
  readonly endNow?: AbortSignal;
}

/** Why a leader adds a key. */
export interface AddCauses {
  /** Changes at these versions concern the key: the caches of its next run must show them. */
  readonly versions: ResourceVersions;
  /** Called between the two steps of an add that takes two. @throws the reason not to add any more */
  readonly assertLeads?: () => void;
}

/** The adds of one leader's term. Refused with SupersededError once the term is another. */
export interface ActivationAdds extends BegunTerm {
  /** Records the causes and adds the key, so that the replica that takes the key finds them. */
  addWithCauses(key: string, causes: AddCauses, options?: AddOptions): Promise<void>;
}

/** A queue with all that people see and change of it. */
export type ControllerQueue = WorkQueue & WorkQueueInspector & WorkQueueTending;

/**
 * The keys of one controller: the leader adds them, every replica takes them as activations and gives them back with
 * an outcome. One interface for queue, locks and stored state, in memory or in Redis.
 */
export interface Activations {
  /** The controller's name. */
  readonly name: string;
  /** For inspection, for adds by people, and for what comes back later. */
  readonly queue: ControllerQueue;
  /**
   * Makes `term` the one whose adds count; see `WorkQueue.beginTerm`.
   * @throws SupersededError if a newer term, or the same epoch of another holder, has begun
   */
  beginTerm(term: LeaderTerm): Promise<ActivationAdds>;
  /**
   * Takes keys until aborted, then takes no new one, waits for those in progress and resolves. May be run again after
   * it has ended. A key whose `handle` rejects runs again.
   * @throws IllegalStateError while it runs
   */
  run(handle: (taken: TakenKey) => Promise<void>, options: TakeOptions, signal: AbortSignal): Promise<void>;
  /** Whether keys are being taken now. */
  readonly isConsuming: boolean;
  /**
   * Drops every key once this replica no longer leads, and refuses adds of its term that come later: the next leader finds them again, and here
   * they would count as waiting for ever. @default keys are shared, and stay
   */
  readonly dropKeys?: () => void;
}
