import type { Attributes } from '@opentelemetry/api';
import type { ApiClient } from '@rollkeeper/client/api-client/api-client';
import type { ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';

/** The object to reconcile. Deliberately neither event nor object: read the current state. */
export interface ReconcileRequest extends ObjectRef {
  readonly key: string;
}

/** Asks to be called again later even if nothing changes until then. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/** A decision of a sync, and the plan that carries it out. */
export interface Decided<Plan = unknown> {
  readonly decision: Decision;
  /** Handed to `act`. */
  readonly plan: Plan;
}

/** The decision of a sync, for its span, the log and `explain`. */
export interface Decision {
  /** The branch taken, for example `rolling-update`, `scale`, `paused`, `create-pods`. */
  readonly branch: string;
  /** One line for people: `web-5d: 3 -> 5; web-7f: 8 -> 6`. Empty if nothing changes. */
  readonly summary: string;
  /** Whether anything requested will be written; a resulting status alone does not count. */
  readonly changes: boolean;
  /**
   * One of thousands of similar decisions, as when pods are collected: reported in its span and at level debug, and not
   * remembered.
   * @default false
   */
  readonly routine?: boolean;
  /**
   * Derived from what a sync has written, so it is reported after the writes, at level debug.
   * @default false: reported before anything is written
   */
  readonly afterwards?: boolean;
  /** Limits, counts: what it was decided from. Flat, for attributes. @default none */
  readonly inputs?: Attributes;
}

/**
 * The context of one sync. `signal` aborts when the sync has to end: the key was lost, the process stops, or the sync
 * has exceeded its time limit (SyncTimeoutError). From then on `client` and `intents` refuse writes. A sync that
 * continues anyway loses its key some time later, so anything it does by other means than `client` must observe
 * `signal`. `client` is the only way to write: it checks `signal` first, records a span, and records the written
 * resourceVersion, so that the key's next activation waits until its caches show it.
 */
export interface SyncAccess {
  readonly signal: AbortSignal;
  readonly client: ApiClient;
  readonly intents: IntentStore;
  /**
   * Must resolve before the sync acts on a decision: the decision may rest on caches that do not show what an interrupted sync of the key
   * has written. `client` and `intents` wait for it as well. Rejects if it does: the key comes back. @default nothing was interrupted
   */
  readonly beforeWrites?: () => Promise<void>;
}

/** The actor's memory of what it is about to do (replaces the ReplicaSet's Expectations). */
export interface IntentStore {
  readonly current: unknown;
  /** Durable once resolved, until the key has not been used for a day. */
  store(intents: unknown): Promise<void>;
  /**
   * Intents are settled, as a cache or the server shows of `type` at `resourceVersion`. Call it before clearing or replacing them,
   * which stores the version in the same step: the next sync may run where the caches are behind, and would find
   * neither the intents nor their results.
   */
  settledAt(type: ResourceType, resourceVersion: string): void;
  /** Cheap: written with the end of the activation. */
  clear(): void;
}

/**
 * Performs a decision of a sync. It is recorded in the span and the log and reported to observers before this returns,
 * so that it is known even if what follows throws or never ends.
 */
export type DecideStep = <D extends { readonly decision: Decision }>(decide: () => D) => D;

/**
 * A controller's work on one key, to its end. Idempotent; any await may be the last line that runs. Throwing asks for another try;
 * {@link classifyFailure} says of what kind.
 */
export type SyncKey = (
  request: ReconcileRequest,
  access: SyncAccess,
  decide: DecideStep,
) => Promise<ReconcileResult>;
