import type { Clock, RandomSource } from '../clock/index.js';
import type { EventRecorder } from '../events/event-recorder.js';
import type { Informer, ResourceEvent } from '../informer/informer.js';
import type { DeepReadonly, KubernetesObject, ObjectRef, ResourceType } from '../kubernetes/index.js';
import type { Logger } from '../logging/index.js';
import type { AddOptions } from '../work-queue/work-queue.js';
import type { Reconciler } from './reconciler.js';

/** Gives the shared informer of a type; asking is what makes the manager run it. Before start only. */
export interface InformerSource {
  informerFor<T extends KubernetesObject>(type: ResourceType): Informer<T>;
}

/** Everything a controller is built from. */
export interface ControllerDependencies {
  readonly informers: InformerSource;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** A change that concerns a key: recorded as its cause, then added to its queue. Never blocks, never throws. */
export interface EnqueueRequest extends AddOptions {
  readonly ref: ObjectRef;
  /** What changed, for the causality of the activation. Absent: nothing to wait for. */
  readonly cause?: { readonly type: ResourceType; readonly resourceVersion: string };
  /**
   * What else the wish to look rests on, that its caches must show to whoever looks: the object itself, say, where it is
   * another one that changed. @default nothing
   */
  readonly mustHaveSeen?: readonly { readonly type: ResourceType; readonly resourceVersion: string }[];
  /** The change itself: what happened to which object, for the trace. */
  readonly change?: ResourceEvent<KubernetesObject>;
  /**
   * Wait until no such change has come for this long, milliseconds, so that a burst of them becomes one sync. One
   * that does not end is cut after five times as long. @default 0
   */
  readonly delayMs?: number;
  /**
   * Where nothing may follow from the change: when the wait is over, {@link BuiltController.needsSync} is asked, and
   * without need nothing is added, unless another change joined that is always worth a sync. @default false
   */
  readonly onlyIfNeeded?: boolean;
}

export type Enqueue = (request: EnqueueRequest) => void;

/** A controller in parts: who reconciles, and which changes concern which keys. */
export interface BuiltController {
  readonly reconciler: Reconciler;
  /** Called on the replica that leads, each time it begins to lead; returns the unsubscribe. */
  watch(enqueue: Enqueue): () => void;
  /**
   * What the caches show on their own of syncs that are due, for the sweep that looks for lost keys; leaves out what one
   * cannot tell. Must be cheap. @default nothing
   */
  due?(): Iterable<DueWork>;
  /**
   * The object that people look at when the key is parked.
   * @default the one of the definition's `type` that the key names, if it is cached
   */
  objectOf?(key: string): DeepReadonly<KubernetesObject> | undefined;
  /**
   * Whether a sync of the key would do anything, or wait for anything, by what the caches show: decided, not carried out.
   * Every later change asks again, so "no" loses nothing. Must be cheap. @default always
   */
  needsSync?(key: string): boolean;
}

/** A key of which a sync is due. */
export interface DueWork {
  readonly ref: ObjectRef;
  /** Of the object that shows it. */
  readonly resourceVersion: string | undefined;
}

/** An entry of the registry. */
export interface ControllerDefinition {
  /** For example `deployment`: names the queue, the spans and the `--controllers` entry. */
  readonly name: string;
  /** The type of the objects whose keys are reconciled. */
  readonly type: ResourceType;
  /** Workers on one replica. */
  readonly defaultWorkers: number;
  /** How long one sync may take, milliseconds; see `ControllerOptions`. @default 120000 */
  readonly syncTimeoutMs?: number;
  build(dependencies: ControllerDependencies): BuiltController;
}
