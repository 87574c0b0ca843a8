import type { PodPlan } from '../../../src/controllers/replicaset/decide-pods.js';
import type { PodIntents } from '../../../src/controllers/replicaset/pod-intents.js';
import type { LockProof } from '../../../src/runtime/activation/actor-store.js';
import type { StoredLock, stateAfterRelease } from '../../../src/runtime/activation/stored-lock.js';

/** A change of a pod at the server. `isReady` decides which pods are deleted first. */
export interface PodEvent {
  readonly name: string;
  readonly uid: string;
  readonly isGone: boolean;
  readonly isReady: boolean;
}

/** A sync that was begun, and its next effects. */
export interface Sync {
  readonly proof: LockProof;
  readonly stored: PodIntents;
  /** Absent until it has decided. */
  readonly plan: PodPlan | undefined;
  readonly hasStored: boolean;
  readonly creates: readonly string[];
  readonly deletes: PodPlan['deletes'];
  readonly unanswered: readonly string[];
  readonly ownWrite: number;
  /** Its intents could not be stored: it ends there. */
  readonly isBroken: boolean;
}

export interface SyncingReplica {
  readonly identity: string;
  /** The number of events that its cache shows. */
  readonly seen: number;
  readonly sync: Sync | undefined;
}

export type Effect =
  | {
      readonly do: 'store';
      readonly proof: LockProof;
      readonly intents: PodIntents;
      readonly ownWrite: number;
    }
  | { readonly do: 'create'; readonly name: string }
  | { readonly do: 'delete'; readonly name: string; readonly uid: string };

export interface IntentsState {
  readonly events: readonly PodEvent[];
  readonly replicas: readonly [SyncingReplica, SyncingReplica];
  readonly lock: StoredLock;
  readonly actor: Parameters<typeof stateAfterRelease>[0];
  readonly activations: number;
  /** An effect of a killed process that still travels. */
  readonly late: Effect | undefined;
  readonly faultsLeft: number;
}
