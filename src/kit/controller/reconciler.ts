import type { ApiClient } from '../api-client/api-client.js';
import type { ObjectRef } from '../../base/kubernetes/index.js';
import type { SyncObserver } from './decision.js';

/** What to look at. Deliberately neither event nor object: read the current state. */
export interface ReconcileRequest extends ObjectRef {
  readonly key: string;
}

/** Asks to be called again after a while although nothing may change until then. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/**
 * What one sync may use. `signal` aborts when the sync has to end: the key is somebody else's now, the process stops, or the sync
 * has taken too long (SyncTimeoutError). From then on `client` refuses writes, and `intents` too. A sync that goes on
 * regardless has lost its key some time later, so what it does by other means than `client` must listen to `signal`. `client` is the only way to write: it checks `signal` first, makes a span, and records
 * the resourceVersion written, so that the key's next activation waits until its caches show it.
 */
export interface ReconcileContext {
  readonly signal: AbortSignal;
  readonly client: ApiClient;
  readonly intents: IntentStore;
  /** Told of steps and decisions. Absent: nobody listens. */
  readonly observer?: SyncObserver;
}

/** The actor's memory of what it is about to do (DESIGN: the ReplicaSet's Expectations). */
export interface IntentStore {
  readonly current: unknown;
  /** Durable before it resolves. */
  store(intents: unknown): Promise<void>;
  /** Cheap: written with the end of the activation. */
  clear(): void;
}

/**
 * Brings the world closer to what one object asks for. Idempotent; any await may be the last line that runs.
 * Throwing asks for another try; {@link classifyFailure} says of what kind. TerminalError asks for none before the object
 * changes.
 */
export interface Reconciler {
  reconcile(request: ReconcileRequest, context: ReconcileContext): Promise<ReconcileResult>;
}
