import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Decision } from './reconciler.js';

/** A sync that begins. */
export interface BegunSync {
  readonly controller: string;
  readonly key: string;
  /** The cached object under the key at the moment of the call. */
  readonly object: () => DeepReadonly<KubernetesObject> | undefined;
}

/** Follows one sync. Each method is called inside the sync's span, must be quick, and must not throw. */
export interface SyncFollower {
  /** A decision, before it is carried out; see `Decision.afterwards`. Some syncs make several. */
  decided?(decision: Decision): void;
  /** The sync has exceeded its time limit and was asked to end. `ended` reports its result later. */
  overdue?(error: unknown): void;
  /** Called once, however it ends. */
  ended?(failure?: { readonly error: unknown }): void;
}

/** Watches the controllers of a manager at work. */
export interface SyncObserver {
  /** @returns what follows the sync; undefined: nothing does */
  begin(sync: BegunSync): SyncFollower | undefined;
}

/** All that follow a sync, as one. */
export function followedBy(observers: readonly SyncObserver[], sync: BegunSync): Required<SyncFollower> {
  const followers = observers.flatMap((observer) => observer.begin(sync) ?? []);
  return {
    decided: (decision) => followers.forEach((each) => each.decided?.(decision)),
    overdue: (error) => followers.forEach((each) => each.overdue?.(error)),
    ended: (failure) => followers.forEach((each) => each.ended?.(failure)),
  };
}
