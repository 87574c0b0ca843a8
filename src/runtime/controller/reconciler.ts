import type { Attributes } from '@opentelemetry/api';
import type { ApiClient } from '@rollkeeper/client/api-client/api-client';
import type { ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';

/** What to look at. Deliberately neither event nor object: read the current state. */
export interface ReconcileRequest extends ObjectRef {
  readonly key: string;
}

/** Asks to be called again after a while although nothing may change until then. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/** What a sync has decided, and what carries it out. */
export interface Decided<Plan = unknown> {
  readonly decision: Decision;
  /** Handed to `act`. */
  readonly plan: Plan;
}

/** What a sync has decided, for its span, the log and whoever explains it. */
export interface Decision {
  /** Which way was taken, for example `rolling-update`, `scale`, `paused`, `create-pods`. */
  readonly branch: string;
  /** One line for people: `web-5d: 3 -> 5; web-7f: 8 -> 6`. Empty where nothing changes. */
  readonly summary: string;
  /** Whether anything will be written that somebody asked for; a status that only follows does not count. */
  readonly changes: boolean;
  /**
   * One of thousands alike, as when pods are collected: told in its span and at level debug, and not remembered.
   * @default false
   */
  readonly routine?: boolean;
  /** Made of what a sync has written, and so told after it: at level debug. @default false: told before anything is written */
  readonly afterwards?: boolean;
  /** Limits, counts: what it was decided from. Flat, for attributes. @default none */
  readonly inputs?: Attributes;
}

/**
 * What one sync may use. `signal` aborts when the sync has to end: the key is somebody else's now, the process stops, or the sync
 * has taken too long (SyncTimeoutError). From then on `client` refuses writes, and `intents` too. A sync that goes on
 * regardless has lost its key some time later, so what it does by other means than `client` must listen to `signal`. `client` is the only way to write: it checks `signal` first, makes a span, and records
 * the resourceVersion written, so that the key's next activation waits until its caches show it.
 */
export interface SyncAccess {
  readonly signal: AbortSignal;
  readonly client: ApiClient;
  readonly intents: IntentStore;
}

/** The actor's memory of what it is about to do (DESIGN: the ReplicaSet's Expectations). */
export interface IntentStore {
  readonly current: unknown;
  /** Durable before it resolves. */
  store(intents: unknown): Promise<void>;
  /**
   * Intents have turned out to be settled, as the cache of `type` shows at `resourceVersion`. Call it before they are cleared, or others
   * are stored in their place, which takes it along in the same step: the next sync may run where the caches are behind, and
   * would find neither the intents nor what became of them.
   */
  settledAt(type: ResourceType, resourceVersion: string): void;
  /** Cheap: written with the end of the activation. */
  clear(): void;
}

/**
 * Lets a sync decide. What it decides is noted in its span, in the log and by whoever observes it, before it returns: so it is known
 * although what follows throws or never ends.
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
