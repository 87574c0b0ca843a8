import type { Span, Tracer } from '@opentelemetry/api';
import { SpanStatusCode } from '@opentelemetry/api';
import type { Activation } from '../activation/activation.js';
import type { ActivationOutcome, Activations, TakeOptions, TakenKey } from '../activation/activations.js';
import type { ApiClient } from '@rollkeeper/client/api-client/api-client';
import { onAbort } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import { errorMessage, hasCode } from '@rollkeeper/machinery/errors';
import type { EventRecorder } from '@rollkeeper/client/events/event-recorder';
import type {
  DeepReadonly,
  KubernetesObject,
  ObjectRef,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { parseKey, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { WorkItem } from '../work-queue/work-queue.js';
import type { InformerByResource } from './caught-up.js';
import { waitUntilCaughtUp } from './caught-up.js';
import type { ControllerMetrics, ReconcileOutcomeLabel } from './controller-metrics.js';
import { noControllerMetrics } from './controller-metrics.js';
import type { NamespaceOf } from './controller-definition.js';
import type { SyncEnd } from './decide-outcome.js';
import { decideOutcome } from './decide-outcome.js';
import { parkedNote } from './classify-failure.js';
import type { ReconcileRequest, ReconcileResult, SyncAccess, SyncKey } from './reconciler.js';
import type { WrittenKinds } from './settle-interruption.js';
import { settleInterruption, settledBeforeWrites } from './settle-interruption.js';
import { settleUnanswered } from './settle-unanswered.js';
import type { SyncObserver } from './sync-observer.js';
import { followedBy } from './sync-observer.js';
import type { TimedSync } from './sync-overruns.js';
import { SyncOverruns } from './sync-overruns.js';
import { SyncSpans, outcomeAttributes } from './sync-spans.js';

/** Creates the client of one activation: checks its signal, records its writes, traces its requests. */
export type ActivationClient = (activation: Activation) => ApiClient;

export interface ControllerOptions {
  readonly name: string;
  /** The work on one key. */
  readonly sync: SyncKey;
  /** The place from which its keys come, and to which they go back. */
  readonly activations: Pick<Activations, 'isConsuming' | 'run'>;
  readonly clientFor: ActivationClient;
  readonly informerOf: InformerByResource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly metrics?: ControllerMetrics;
  /** Concurrent keys on this replica. */
  readonly workers: number;
  /** See {@link waitUntilCaughtUp}. */
  readonly caughtUpTimeoutMs: number;
  /**
   * Time limit of a sync, including the wait for its caches; at the limit its signal aborts with SyncTimeoutError, and
   * the key is retried with backoff. A reconciler that ignores the signal loses the key too, but only when none of its
   * writes can be in flight. @default 120000
   */
  readonly syncTimeoutMs?: number;
  /** How long to wait for a cancelled sync to end; longer than a request of its client can take. @default 35000 */
  readonly abandonAfterMs?: number;
  /** This replica's name, for spans. */
  readonly replica: string;
  /** Watch it at work. @default none */
  readonly observers?: readonly SyncObserver[];
  /** See `ControllerDefinition.namespaceOf`. @default that of the key */
  readonly namespaceOf?: NamespaceOf | undefined;
  /** Records an Event when a key is parked. @default none */
  readonly events?: EventRecorder;
  /** Told of each run, so that keys that are refused are woken by what refuses them. @default only their backoff brings them back */
  readonly obstructed?: ObstructedKeys;
  /** The cached object of a key. @default none */
  readonly objectOf?: (key: string) => DeepReadonly<KubernetesObject> | undefined;
  /**
   * The kinds that are read from the server before the first write after an interrupted activation. @default none: its writes are
   * seen when the caches show them
   */
  readonly writtenKinds?: WrittenKinds;
}

function namespaceOfKey({ namespace }: ObjectRef): string | undefined {
  return namespace;
}

/** The keys of a controller that the API server refuses, as far as they ran on this replica. */
export interface ObstructedKeys {
  failed(this: void, key: string, error: unknown): void;
  succeeded(this: void, key: string): void;
}

const OUTCOME_LABELS: Readonly<Record<ActivationOutcome['action'], ReconcileOutcomeLabel>> = {
  done: 'success',
  'requeue-after': 'requeue_after',
  'come-back': 'put_off',
  retry: 'error',
  park: 'terminal_error',
};

/**
 * One controller on one replica: takes keys as activations, calls the reconciler once the caches have caught up, and
 * gives each key back with its outcome. Runs on every replica.
 */
export class Controller {
  private readonly metrics: ControllerMetrics;
  private readonly spans: SyncSpans;
  private readonly overruns: SyncOverruns;

  constructor(private readonly options: ControllerOptions) {
    this.metrics = options.metrics ?? noControllerMetrics;
    const controller = options.name;
    this.spans = new SyncSpans({ ...options, controller });
    this.overruns = new SyncOverruns({ ...options, controller, metrics: this.metrics });
  }

  get name(): string {
    return this.options.name;
  }

  get workers(): number {
    return this.options.workers;
  }

  get isConsuming(): boolean {
    return this.options.activations.isConsuming;
  }

  /** Runs until aborted, then finishes syncs in progress. May be run again after that. */
  run(signal: AbortSignal, options: Omit<TakeOptions, 'concurrency'> = {}): Promise<void> {
    const { activations, workers } = this.options;
    return activations.run((taken) => this.process(taken), { ...options, concurrency: workers }, signal);
  }

  private async process(taken: TakenKey): Promise<void> {
    const { clock, name } = this.options;
    const { item } = taken;
    await this.spans.run(item, async (span) => {
      const startedMs = clock.monotonicNow();
      this.metrics.activeWorkers(name, 1);
      try {
        const end = await this.sync(taken, span);
        const outcome = decideOutcome(end);
        this.note(item, outcome, span, clock.monotonicNow() - startedMs);
        const { parked } = await taken.complete(outcome);
        this.remember(item.key, outcome);
        if (parked && 'error' in outcome) this.tellParked(item, outcome.error);
      } finally {
        this.metrics.activeWorkers(name, -1);
      }
    });
  }

  private async sync(taken: TakenKey, span: Span): Promise<SyncEnd> {
    const { item } = taken;
    const timed: TimedSync = this.overruns.time(item.key);
    try {
      const work = (activation: Activation): Promise<ReconcileResult> =>
        timed.run(() => this.reconcile(item, activation, span));
      return { ended: 'ok', result: await taken.activate(work, timed.limit) };
    } catch (error) {
      return { ended: 'failed', error };
    } finally {
      timed.ended();
    }
  }

  private async reconcile(item: WorkItem, activation: Activation, span: Span): Promise<ReconcileResult> {
    const { clientFor, name } = this.options;
    const { key } = item;
    span.setAttribute('rollkeeper.fencing_token', activation.token);
    const ref = parseKey(key);
    const client = clientFor(activation);
    await this.settle(activation, client, span);
    const { namespaceOf = namespaceOfKey } = this.options;
    await this.catchUp(activation, namespaceOf(ref), span);
    if (activation.intents !== undefined) this.metrics.intentsReplayed(name);
    const intents = {
      current: activation.intents,
      store: (value: unknown) => activation.storeIntents(value),
      clear: () => activation.clearIntentsOnRelease(),
      settledAt: (type: ResourceType, resourceVersion: string) =>
        activation.recordOwnWrite(qualifiedResource(type), resourceVersion),
    };
    const access = { signal: activation.signal, client, intents };
    const { writtenKinds } = this.options;
    const isSure = !activation.followsInterruption || !writtenKinds;
    const settle = (): Promise<void> => this.settleInterrupted(activation, client, writtenKinds!, span);
    return this.follow({ key, ...ref }, isSure ? access : settledBeforeWrites(access, settle), span);
  }

  /** Runs the sync and reports its progress to the observers. */
  private async follow(request: ReconcileRequest, access: SyncAccess, span: Span): Promise<ReconcileResult> {
    const { logger, name: controller, objectOf, observers = [], sync } = this.options;
    const { key } = request;
    const { signal } = access;
    const follower = followedBy(observers, { controller, key, object: () => objectOf?.(key) });
    const synced = sync(request, access, (decide) => {
      const decided = this.spans.decide(decide, key, span, logger);
      follower.decided(decided.decision);
      return decided;
    });
    // Registered after the sync's own listeners, which report what it has done so far.
    const stopListening = onAbort(signal, () => {
      if (hasCode(signal.reason, 'SYNC_TIMEOUT')) follower.overdue(signal.reason);
    });
    try {
      const result = await synced;
      follower.ended();
      return result;
    } catch (error) {
      follower.ended({ error });
      throw error;
    } finally {
      stopListening();
    }
  }

  /** Finds the outcome of unanswered writes: the caches must show them as well. */
  private async settle(activation: Activation, client: ApiClient, span: Span): Promise<void> {
    if (activation.unanswered.length === 0) return;
    const { clock, logger, name } = this.options;
    const count = await settleUnanswered(activation, { client, now: () => clock.now() });
    span.setAttribute('rollkeeper.unanswered_writes', count);
    logger.info('asked what became of writes without an answer', {
      controller: name,
      key: activation.key,
      count,
    });
  }

  /** Finds out what an interrupted activation has written: the caches must show that before anything else is written. */
  private async settleInterrupted(
    activation: Activation,
    client: ApiClient,
    kinds: WrittenKinds,
    span: Span,
  ): Promise<void> {
    const { informerOf, logger, name, objectOf } = this.options;
    const { key } = activation;
    span.addEvent('rollkeeper.interruption');
    logger.info('asked what an interrupted sync has written', { controller: name, key });
    const parts = { ref: parseKey(key), client, informerOf, kinds, object: objectOf?.(key) };
    try {
      const isKnown = await settleInterruption(activation, parts);
      if (!isKnown)
        logger.warn('the server does not list all that an interrupted sync may have written', {
          controller: name,
          key,
        });
    } catch (error) {
      if (hasCode(error, 'STALE_CACHE')) this.metrics.staleReadAvoided(name);
      throw error;
    }
  }

  /** Waits until the caches show the required versions; each wait is a stale read that was avoided. */
  private async catchUp(
    { mustHaveSeen, signal }: Activation,
    namespace: string | undefined,
    span: Span,
  ): Promise<void> {
    const { caughtUpTimeoutMs: timeoutMs, clock, informerOf, name } = this.options;
    try {
      const { waited, waitedMs } = await waitUntilCaughtUp(mustHaveSeen, informerOf, signal, {
        timeoutMs,
        clock,
        namespace,
      });
      span.setAttribute('rollkeeper.caught_up_wait_ms', waitedMs);
      this.metrics.caughtUp(name, waitedMs / 1000);
      if (waited) this.metrics.staleReadAvoided(name);
    } catch (error) {
      if (hasCode(error, 'STALE_CACHE')) this.metrics.staleReadAvoided(name);
      throw error;
    }
  }

  private note(item: WorkItem, outcome: ActivationOutcome, span: Span, elapsedMs: number): void {
    const { logger, name } = this.options;
    const fields = { controller: name, key: item.key, elapsedMs: Math.round(elapsedMs) };
    if (span.isRecording()) span.setAttributes(outcomeAttributes(outcome));
    this.metrics.reconciled(name, OUTCOME_LABELS[outcome.action], elapsedMs / 1000);
    if (outcome.action === 'retry' || outcome.action === 'park') {
      if (isMistake(outcome.error)) this.metrics.panicked(name);
      span.recordException(outcome.error as Error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(outcome.error) });
      const what = outcome.action === 'park' ? 'sync failed for good' : 'sync failed; it will be tried again';
      logger.warn(what, { ...fields, retries: item.retries, error: outcome.error });
    } else {
      logger.debug(outcome.action === 'come-back' ? `sync put off: ${outcome.why}` : 'synced', fields);
    }
  }

  /** Once the queue has the key back: what wakes it then finds it there. */
  private remember(key: string, outcome: ActivationOutcome): void {
    const { obstructed } = this.options;
    if ('error' in outcome) obstructed?.failed(key, outcome.error);
    else if (outcome.action !== 'come-back') obstructed?.succeeded(key);
  }

  /** Records an Event so users see it on the object. A try of a key that was parked before is no news for the log. */
  private tellParked({ key, reason }: Pick<WorkItem, 'key' | 'reason'>, error: unknown): void {
    const { events, logger, name, objectOf } = this.options;
    const level = reason === 'parked' ? 'debug' : 'error';
    logger[level]('a key is parked until it changes, with a try now and then', {
      controller: name,
      key,
      error,
    });
    const object = objectOf?.(key);
    if (object) events?.record(object, parkedNote(name, key, error));
  }
}

/** Tells whether an error is what Go would call a panic: a bug rather than an expected failure. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}
