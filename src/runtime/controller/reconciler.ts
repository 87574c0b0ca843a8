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

/** A sync that has read all it needs and written nothing yet. */
export interface Observed {
  /** Pure: decides from what was read. Called once, immediately. */
  readonly decide: () => Decided;
}

/** The decision of a sync. */
export interface Decided {
  readonly decision: Decision;
  /**
   * Applies the decision. Called once, after the decision has been reported, so that it is known even if this throws or
   * never ends. A sync that has to read again after a conflict returns what it has read then.
   */
  readonly apply: () => Promise<SyncStep>;
}

/** The state of a sync: ended, or ready to decide. */
export type SyncStep = ReconcileResult | Observed;

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
  /** Limits, counts: the inputs of the decision. Flat, for attributes. */
  readonly inputs: Attributes;
}

/**
 * The context of one sync. `signal` aborts when the sync has to end: the key was lost, the process stops, or the sync
 * has exceeded its time limit (SyncTimeoutError). From then on `client` and `intents` refuse writes. A sync that
 * continues anyway loses its key some time later, so anything it does by other means than `client` must observe
 * `signal`. `client` is the only way to write: it checks `signal` first, records a span, and records the written
 * resourceVersion, so that the key's next activation waits until its caches show it.
 */
export interface ReconcileContext {
  readonly signal: AbortSignal;
  readonly client: ApiClient;
  readonly intents: IntentStore;
}

/** The actor's memory of what it is about to do (replaces the ReplicaSet's Expectations). */
export interface IntentStore {
  readonly current: unknown;
  /** Durable once resolved. */
  store(intents: unknown): Promise<void>;
  /**
   * Intents are settled, as the cache of `type` shows at `resourceVersion`. Call it before clearing or replacing them,
   * which stores the version in the same step: the next sync may run where the caches are behind, and would find
   * neither the intents nor their results.
   */
  settledAt(type: ResourceType, resourceVersion: string): void;
  /** Cheap: written with the end of the activation. */
  clear(): void;
}

/**
 * Moves the world closer to what one object asks for. Idempotent; any await may be the last line that runs. Throwing
 * requests a retry, whose kind {@link classifyFailure} decides; TerminalError requests none before the object changes.
 * Return an {@link Observed} to have the decision reported, or a result.
 */
export interface Reconciler {
  reconcile(request: ReconcileRequest, context: ReconcileContext): Promise<SyncStep>;
}

export function hasToDecide(step: SyncStep): step is Observed {
  return 'decide' in step;
}

/**
 * Takes a sync to its end.
 * @param decide performs each decision; wrap it to observe decisions
 */
export async function carryThrough(
  sync: Promise<SyncStep>,
  decide: (observed: Observed) => Decided = (observed) => observed.decide(),
): Promise<ReconcileResult> {
  let step = await sync;
  while (hasToDecide(step)) step = await decide(step).apply();
  return step;
}
