import type { ApiClient, WatchEvent } from '../api-client/index.js';
import type { Clock, RandomSource } from '../clock/index.js';
import { errorMessage } from '../errors/index.js';
import type { KubernetesObject, ResourceType } from '../kubernetes/index.js';
import type { Logger } from '../logging/index.js';
import { Backoff } from './backoff.js';
import type { ReflectorState, StepOutcome } from './decide-watch-step.js';
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
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
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

  constructor(
    private readonly deps: ReflectorDependencies<T>,
    private readonly config: ReflectorConfig,
  ) {
    this.backoff = new Backoff(config.backoff, deps.random);
  }

  /** Until aborted, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    let state = INITIAL_STATE;
    while (!signal.aborted) {
      const outcome =
        state.step === 'list' ? await this.list(state.paged, signal) : await this.watch(state, signal);
      if (signal.aborted) return;
      const step = decideWatchStep(state, outcome);
      if (step.healthy) this.backoff.reset();
      state = step.next;
      if (step.wait === 'backoff' && !(await this.pause(signal))) return;
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

  private explain(
    verb: 'list' | 'watch',
    error: unknown,
    signal: AbortSignal,
  ): ReturnType<typeof classifyFailure> {
    const failure = classifyFailure(error);
    if (signal.aborted) return failure;
    const fields = { verb, failure, reason: errorMessage(error) };
    // A watch that expired or broke is daily life; a refusal is for somebody to look at.
    if (failure === 'expired' || failure === 'gap') this.deps.logger.info('listing again', fields);
    else if (failure === 'refused') this.deps.logger.error('the API server refuses', fields);
    else this.deps.logger.warn('the API server cannot be reached', fields);
    return failure;
  }

  /** Whether to go on. */
  private async pause(signal: AbortSignal): Promise<boolean> {
    try {
      await this.deps.clock.sleep(this.backoff.nextMs(), signal);
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
