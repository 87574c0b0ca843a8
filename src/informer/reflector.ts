import type { ApiClient, WatchEvent } from '../api-client/index.js';
import { ApiStatusError } from '../api-client/index.js';
import type { Clock, RandomSource } from '../clock/index.js';
import { errorMessage } from '../errors/index.js';
import type { KubernetesObject, ResourceType } from '../kubernetes/index.js';
import type { Logger } from '../logging/index.js';
import type { BackoffLimits } from './backoff.js';
import { Backoff } from './backoff.js';
import type { FailureKind, ReflectorState, StepOutcome } from './decide-watch-step.js';
import type { InformerTrouble } from './informer.js';
import { INITIAL_STATE, classifyFailure, decideWatchStep } from './decide-watch-step.js';

/** The part of the API client that a reflector needs. */
export type ListWatcher = Pick<ApiClient, 'list' | 'watch'>;

/** Who is shown the state of the server. Called synchronously; must not throw. */
export interface ReflectorSink<T> {
  /** A page of a list that is not complete yet; may shrink the items before they are kept. */
  receivePage(items: readonly T[]): readonly T[];
  /** Everything there is, as of `resourceVersion`. */
  replace(items: readonly T[], resourceVersion: string): void;
  /** A change after that, or a bookmark. */
  apply(event: WatchEvent<T>): void;
  /** There is no list, or no watch, until the next `replace`. */
  fail(trouble: InformerTrouble): void;
}

export interface ReflectorConfig {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly pageSize: number;
  /** The server ends a watch after one to two times this long. */
  readonly watchTimeoutSeconds: number;
  /** Silence beyond the server's own timeout after which a connection is dead. */
  readonly idleGraceMs: number;
  readonly backoff: BackoffLimits;
  /** Where the server refuses. */
  readonly refusedBackoff: BackoffLimits;
}

export interface ReflectorDependencies<T> {
  readonly type: ResourceType;
  readonly client: ListWatcher;
  readonly sink: ReflectorSink<T>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/**
 * Keeps a sink equal to the server's objects of one type: lists, watches from there, and lists again when the watch
 * has lost its place. {@link decideWatchStep} knows the protocol; here is the I/O. Survives every error.
 */
export class Reflector<T extends KubernetesObject> {
  private readonly backoff: Backoff;
  private readonly refusedBackoff: Backoff;
  /** The failure that was told last; one that goes on is not told again and again. */
  private told: string | undefined;

  constructor(
    private readonly deps: ReflectorDependencies<T>,
    private readonly config: ReflectorConfig,
  ) {
    this.backoff = new Backoff(config.backoff, deps.random);
    this.refusedBackoff = new Backoff(config.refusedBackoff, deps.random);
  }

  /** Until aborted, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    let state = INITIAL_STATE;
    while (!signal.aborted) {
      const outcome =
        state.step === 'list' ? await this.list(state.paged, signal) : await this.watch(state, signal);
      if (signal.aborted) return;
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

  private async list(paged: boolean, signal: AbortSignal): Promise<StepOutcome> {
    const { type, client, sink, logger } = this.deps;
    const { namespace, labelSelector, fieldSelector, pageSize } = this.config;
    const limit = paged ? pageSize : undefined;
    try {
      const items: T[] = [];
      let resourceVersion = '';
      let continueToken: string | undefined;
      do {
        const page = await client.list<T>(type, {
          namespace,
          labelSelector,
          fieldSelector,
          limit,
          continueToken,
          signal,
        });
        for (const item of sink.receivePage(page.items)) items.push(item);
        resourceVersion = page.resourceVersion;
        continueToken = page.continueToken;
      } while (continueToken !== undefined);
      if (signal.aborted) return { type: 'list-failed', failure: 'unavailable' };
      sink.replace(items, resourceVersion);
      logger.debug('listed', { count: items.length, resourceVersion });
      return { type: 'listed', resourceVersion };
    } catch (error) {
      return { type: 'list-failed', failure: this.explain('list', error, signal) };
    }
  }

  private async watch(
    state: Extract<ReflectorState, { step: 'watch' }>,
    signal: AbortSignal,
  ): Promise<StepOutcome> {
    const { type, client, sink, clock, random } = this.deps;
    const { namespace, labelSelector, fieldSelector, watchTimeoutSeconds, idleGraceMs } = this.config;
    // Spread, so that not all watches of all replicas end at the same instant.
    const timeoutSeconds = Math.ceil(watchTimeoutSeconds * (1 + random.next()));
    const idleTimeoutMs = timeoutSeconds * 1000 + idleGraceMs;
    const beganMs = clock.monotonicNow();
    let { resourceVersion } = state;
    try {
      for await (const event of client.watch<T>(type, {
        namespace,
        labelSelector,
        fieldSelector,
        resourceVersion,
        timeoutSeconds,
        idleTimeoutMs,
        signal,
      })) {
        if (signal.aborted) break;
        sink.apply(event);
        resourceVersion = resourceVersionOf(event) ?? resourceVersion;
      }
      return { type: 'watch-ended', resourceVersion, livedMs: clock.monotonicNow() - beganMs };
    } catch (error) {
      const failure = this.explain('watch', error, signal);
      return { type: 'watch-failed', failure, resourceVersion, livedMs: clock.monotonicNow() - beganMs };
    }
  }

  /** Tells people, and whoever reads the cache, what went wrong. */
  private explain(verb: 'list' | 'watch', error: unknown, signal: AbortSignal): FailureKind {
    const failure = classifyFailure(error);
    if (signal.aborted) return failure;
    const reason = errorMessage(error);
    this.tell({ verb, failure, reason });
    const isDailyLife = failure === 'expired' || failure === 'gap';
    if (!isDailyLife && (verb === 'list' || failure === 'refused'))
      this.deps.sink.fail({ reason, ...(error instanceof ApiStatusError && { code: error.code }) });
    return failure;
  }

  private tell(fields: { verb: 'list' | 'watch'; failure: FailureKind; reason: string }): void {
    const { logger } = this.deps;
    const told = Object.values(fields).join(' ');
    const isKnown = told === this.told;
    this.told = told;
    // A watch that expired or broke is daily life; a refusal is for somebody to look at.
    if (isKnown) logger.debug('the API server still refuses or cannot be reached', fields);
    else if (fields.failure === 'expired' || fields.failure === 'gap') logger.info('listing again', fields);
    else if (fields.failure === 'refused') logger.error('the API server refuses', fields);
    else logger.warn('the API server cannot be reached', fields);
  }

  /** Whether to go on. */
  private async pause(outcome: StepOutcome, signal: AbortSignal): Promise<boolean> {
    const isRefused = 'failure' in outcome && outcome.failure === 'refused';
    try {
      await this.deps.clock.sleep((isRefused ? this.refusedBackoff : this.backoff).nextMs(), signal);
      return true;
    } catch {
      return false;
    }
  }
}

function resourceVersionOf<T extends KubernetesObject>(event: WatchEvent<T>): string | undefined {
  const resourceVersion =
    event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
  return resourceVersion || undefined;
}
