import type { ObjectShard, WatchEvent } from '../api-client/index.js';
import { ApiStatusError, isNotFound } from '../api-client/index.js';
import { LinkedAbort, isAborted } from '@rollkeeper/machinery/cancellation';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { BackoffLimits } from './backoff.js';
import { Backoff } from './backoff.js';
import type { FailureKind, ListWay, ReflectorState, StepOutcome } from './decide-watch-step.js';
import type { InformerTrouble } from './informer.js';
import { MissedChanges } from './missed-changes.js';
import { INITIAL_STATE, classifyFailure, decideWatchStep } from './decide-watch-step.js';
import type { ListWatcher } from './list-everything.js';
import { NotStreamedError, listEverything } from './list-everything.js';
import type { StreamingLists } from './streaming-lists.js';
import type { Reading } from './version-waiters.js';
import type { WatchPatrol } from './watch-patrol.js';

/** Receives the server's state. Called synchronously; must not throw. */
export interface ReflectorSink<T> {
  /** A page of an incomplete list; may shrink the items before they are kept. */
  receivePage(items: readonly T[]): readonly T[];
  /** All objects, as of the reading. */
  replace(items: readonly T[], reading: Reading): void;
  /** A later change, or a bookmark. */
  apply(event: WatchEvent<T>): void;
  /** There is no list, or no watch, until the next `replace`. */
  fail(trouble: InformerTrouble): void;
}

export interface ReflectorConfig {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** @default the objects of all shards */
  readonly shard?: ObjectShard;
  readonly pageSize: number;
  /** The server ends a watch after this time, or up to a third more. */
  readonly watchTimeoutSeconds: number;
  /** Silence beyond the server's own timeout after which a connection is dead. */
  readonly idleGraceMs: number;
  readonly backoff: BackoffLimits;
  /** Backoff if the server refuses. */
  readonly refusedBackoff: BackoffLimits;
}

export interface ReflectorDependencies<T> {
  readonly type: ResourceType;
  readonly client: ListWatcher;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Tracks which servers stream lists. @default no streaming */
  readonly streamingLists?: StreamingLists;
  /** Shared by the watches of one server. @default none: each watch is short */
  readonly patrol?: WatchPatrol;
}

/** A watch that ends this much before its timeout ended early. */
const EARLY_MS = 1_000;
/** So many times as long are the watches that a scout looks out for; the end of one is a bound of `CACHES_SHOW_WITHIN_MS`. */
const PATROLLED = 2;

/** The current watch. */
interface OpenWatch {
  readonly doubt: (so: 'list' | 'watch') => void;
  lastHeardMs: number;
}

/** Abort reason of a watch that we ended ourselves. */
class WatchDoubted extends Error {
  constructor(readonly so: 'list' | 'watch') {
    super('the watch shows less than the server has');
    this.name = 'WatchDoubted';
  }
}

/**
 * Keeps a sink in sync with the server's objects of one type: lists, watches from there, and lists again when the watch
 * has lost its place. {@link decideWatchStep} implements the protocol; this class does the I/O. Survives every error.
 */
export class Reflector<T extends KubernetesObject> {
  private readonly backoff: Backoff;
  private openWatch: OpenWatch | undefined;
  private reads = 0;
  private readonly missed = new MissedChanges();
  private endPause: () => void = () => undefined;
  private readonly refusedBackoff: Backoff;
  /** The last reported failure; a persisting one is not reported again. */
  private told: string | undefined;
  private shardsSelected: boolean | undefined;

  constructor(
    private readonly deps: ReflectorDependencies<T>,
    private readonly config: ReflectorConfig,
  ) {
    this.backoff = new Backoff(config.backoff, deps.random);
    this.refusedBackoff = new Backoff(config.refusedBackoff, deps.random);
  }

  /** Number of reads of the current state started so far: lists, and {@link Reflector.readPresent}. */
  get readsBegun(): number {
    return this.reads;
  }

  /** Whether the server selects the shard; undefined without one, before the first list, and where it does not say it. */
  get isShardSelected(): boolean | undefined {
    return this.shardsSelected;
  }

  /** How long the current watch has been silent, milliseconds; undefined without a watch. */
  get silentForMs(): number | undefined {
    return this.openWatch && this.deps.clock.monotonicNow() - this.openWatch.lastHeardMs;
  }

  /** Whether the sink has everything but what an open watch brings within moments: see {@link MissedChanges}. */
  get isCurrent(): boolean {
    return !this.missed.arePossible;
  }

  /** Lists without delay unless {@link isCurrent}. */
  listUnlessCurrent(): void {
    if (this.isCurrent) return;
    this.missed.demandList(this.reads);
    this.openWatch?.doubt('list');
    this.endPause();
  }

  /** Runs until aborted, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    let state = INITIAL_STATE;
    while (!signal.aborted) {
      if (this.missed.wantList && state.step !== 'list') state = INITIAL_STATE;
      const outcome = await this.perform(state, signal);
      if (isAborted(signal)) return;
      this.missed.noteOutcome(outcome);
      const step = decideWatchStep(state, outcome);
      if (step.healthy) {
        this.backoff.reset();
        this.refusedBackoff.reset();
        this.told = undefined;
      }
      state = step.next;
      if (step.wait === 'backoff' && !(await this.pause(outcome, signal))) return;
    }
  }

  /** The server's current version, across all types: what a list would show, by reading one object at most. */
  async readPresent(signal: AbortSignal): Promise<Reading> {
    const read = ++this.reads;
    const { namespace } = this.config;
    const { resourceVersion } = await this.deps.client.list(this.deps.type, { namespace, limit: 1, signal });
    return { read, resourceVersion };
  }

  /** Ends the current watch, to watch again on another connection or to list. No-op without a watch. */
  doubtWatch(so: 'list' | 'watch'): void {
    this.openWatch?.doubt(so);
  }

  private perform(state: ReflectorState, signal: AbortSignal): Promise<StepOutcome> {
    switch (state.step) {
      case 'list':
        return this.list(state.way, signal);
      case 'watch':
        return this.watch(state.resourceVersion, signal);
      case 'check':
        return this.check(signal);
    }
  }

  private async list(way: ListWay, signal: AbortSignal): Promise<StepOutcome> {
    const { client, logger, sink, streamingLists, type } = this.deps;
    const { pageSize } = this.config;
    // A stream does not say whether the server selects shards.
    const isStreamable = streamingLists?.isWorthAsking(type) === true && !this.config.shard;
    if (way === 'streamed' && !isStreamable) way = 'pages';
    const read = ++this.reads;
    try {
      const receive = (items: readonly T[]): readonly T[] => sink.receivePage(items);
      const request = { client, type, scope: this.scope(), pageSize, receive, signal };
      const { isShardSelected, items, resourceVersion } = await listEverything(way, request);
      if (signal.aborted) return { type: 'list-failed', way, failure: 'unavailable' };
      // First, so that the waits that the sink ends find it current.
      this.missed.endWithList(read);
      sink.replace(items, { read, resourceVersion });
      if (isShardSelected !== undefined) this.noteShards(isShardSelected);
      logger.debug('listed', { count: items.length, resourceVersion, way });
      return { type: 'listed', resourceVersion };
    } catch (error) {
      if (error instanceof NotStreamedError) {
        streamingLists?.refused(type);
        logger.debug('listing in pages', { reason: error.message });
        return { type: 'list-failed', way, failure: 'not-streamed' };
      }
      return { type: 'list-failed', way, failure: this.explain('list', error, signal) };
    }
  }

  private async check(signal: AbortSignal): Promise<StepOutcome> {
    try {
      const { resourceVersion } = await this.readPresent(signal);
      return { type: 'checked', present: resourceVersion };
    } catch (error) {
      return { type: 'check-failed', failure: this.explain('check', error, signal) };
    }
  }

  private async watch(from: string, signal: AbortSignal): Promise<StepOutcome> {
    const { type, client, patrol, sink, clock, random } = this.deps;
    const { idleGraceMs } = this.config;
    const doubted = new AbortController();
    const patrolled = { doubt: () => doubted.abort(new WatchDoubted('watch')) };
    const isLong = patrol?.begin(patrolled) === false;
    const watchTimeoutSeconds = this.config.watchTimeoutSeconds * (isLong ? PATROLLED : 1);
    // Jitter, so that not all watches of all replicas end at the same instant.
    const timeoutSeconds = Math.ceil(watchTimeoutSeconds * (1 + random.next() / 3));
    const beganMs = clock.monotonicNow();
    let isDead = false;
    const either = new LinkedAbort(signal, doubted.signal);
    const open: OpenWatch = {
      doubt: (so) => doubted.abort(new WatchDoubted(so)),
      lastHeardMs: beganMs,
    };
    this.openWatch = open;
    let resourceVersion = from;
    const life = (): { resourceVersion: string; livedMs: number } => ({
      resourceVersion,
      livedMs: clock.monotonicNow() - beganMs,
    });
    try {
      for await (const event of client.watch<T>(type, {
        ...this.scope(),
        resourceVersion,
        timeoutSeconds,
        // A watch may be silent until its timeout. Its end then shows that it was alive.
        silentUntilMs: timeoutSeconds * 1000,
        idleTimeoutMs: idleGraceMs,
        signal: either.signal,
      })) {
        if (signal.aborted) break;
        open.lastHeardMs = clock.monotonicNow();
        resourceVersion = resourceVersionOf(event) ?? resourceVersion;
        this.missed.endIfShown(resourceVersion);
        sink.apply(event);
      }
      const { livedMs } = life();
      const early = livedMs < timeoutSeconds * 1000 - EARLY_MS;
      return { type: 'watch-ended', early, ...life() };
    } catch (error) {
      const reason: unknown = doubted.signal.reason;
      if (reason instanceof WatchDoubted) return { type: 'watch-doubted', so: reason.so, ...life() };
      isDead = error instanceof TimeoutError;
      return { type: 'watch-failed', failure: this.explain('watch', error, signal), ...life() };
    } finally {
      this.openWatch = undefined;
      patrol?.end(patrolled, isDead);
      either.close();
    }
  }

  private scope(): Pick<ReflectorConfig, 'namespace' | 'labelSelector' | 'fieldSelector' | 'shard'> {
    const { fieldSelector, labelSelector, namespace, shard } = this.config;
    return { namespace, labelSelector, fieldSelector, ...(shard && { shard }) };
  }

  /** A server may begin to select shards, or cease to, with an upgrade. */
  private noteShards(areSelected: boolean): void {
    if (this.shardsSelected === areSelected) return;
    this.shardsSelected = areSelected;
    const { logger } = this.deps;
    if (areSelected) logger.debug('the API server selects shards');
    else
      logger.info(
        'the API server does not select shards: all objects are read, and those of others left out',
      );
  }

  /** Reports the failure to logs and to readers of the cache. */
  private explain(verb: 'list' | 'check' | 'watch', error: unknown, signal: AbortSignal): FailureKind {
    const failure = classifyFailure(error);
    if (signal.aborted) return failure;
    const reason = errorMessage(error);
    this.tell({ verb, failure, reason }, isNotFound(error));
    // A list follows each of these and reports its own failure.
    const isDailyLife = failure === 'expired' || failure === 'gap' || failure === 'too-large';
    if (!isDailyLife && (verb === 'list' || failure === 'refused'))
      this.deps.sink.fail({ reason, ...(error instanceof ApiStatusError && { code: error.code }) });
    return failure;
  }

  /** @param isMissing the server has no such kind, which may be installed later */
  private tell(
    what: { verb: 'list' | 'check' | 'watch'; failure: FailureKind; reason: string },
    isMissing: boolean,
  ): void {
    const { logger } = this.deps;
    const { namespace } = this.config;
    const fields = { ...what, ...(namespace && { namespace }) };
    const told = Object.values(what).join(' ');
    const isKnown = told === this.told;
    this.told = told;
    // An expired or broken watch is routine; a refusal needs attention.
    if (isKnown) logger.debug('the API server still refuses or cannot be reached', fields);
    else if (fields.failure === 'expired' || fields.failure === 'gap') logger.info('listing again', fields);
    else if (fields.failure === 'too-large') logger.warn('listing in smaller pages', fields);
    else if (isMissing) logger.info('the API server does not have the kind', fields);
    else if (fields.failure === 'refused') logger.error('the API server refuses', fields);
    else logger.warn('the API server cannot be reached', fields);
  }

  /** Returns whether to continue. */
  private async pause(outcome: StepOutcome, signal: AbortSignal): Promise<boolean> {
    const isRefused = 'failure' in outcome && outcome.failure === 'refused';
    const until = new LinkedAbort(signal);
    this.endPause = () => until.abort(new Error('a list is wanted'));
    await pause(this.deps.clock, (isRefused ? this.refusedBackoff : this.backoff).nextMs(), until.signal);
    this.endPause = () => undefined;
    until.close();
    return !signal.aborted;
  }
}

function resourceVersionOf<T extends KubernetesObject>(event: WatchEvent<T>): string | undefined {
  const resourceVersion =
    event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
  return resourceVersion || undefined;
}
