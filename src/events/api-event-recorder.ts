import type { ApiClient } from '../api-client/api-client.js';
import {
  apiStatusOf,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
} from '../api-client/api-status-error.js';
import type { Clock, RandomSource } from '../clock/index.js';
import { jitter } from '../clock/index.js';
import { IllegalStateError, ShutdownError, errorMessage } from '../errors/index.js';
import type { DeepReadonly, KubernetesObject } from '../kubernetes/index.js';
import { EVENTS } from '../kubernetes/index.js';
import type { Logger } from '../logging/index.js';
import type { EventSeries } from './event-correlator.js';
import { EventCorrelator } from './event-correlator.js';
import type { EventObject, EventSource } from './event-object.js';
import { newEventName } from './event-object.js';
import type { EventNote, EventRecorder } from './event-recorder.js';
import type { CompiledEventRecorderOptions, EventRecorderOptions } from './event-recorder.options.js';
import { compileEventRecorderOptions } from './event-recorder.options.js';

export interface ApiEventRecorderDependencies extends EventSource {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly options?: EventRecorderOptions;
}

/**
 * Writes events to the API, one after the other, in the background of whatever records them. What is recorded before
 * `run` waits for it. Best effort: when too much waits the oldest is dropped, with a warning.
 */
export class ApiEventRecorder implements EventRecorder {
  private readonly options: CompiledEventRecorderOptions;
  private readonly correlator: EventCorrelator;
  private readonly queue: EventSeries[] = [];
  private wakeWriter: () => void = () => undefined;
  private hasRun = false;
  private dropped = 0;

  constructor(private readonly deps: ApiEventRecorderDependencies) {
    this.options = compileEventRecorderOptions(deps.options);
    const { component, host, clock, random } = deps;
    this.correlator = new EventCorrelator({ component, host }, clock, random, this.options);
  }

  /** Events dropped so far because too many waited. */
  get droppedEvents(): number {
    return this.dropped;
  }

  record(about: DeepReadonly<KubernetesObject>, note: EventNote): void {
    this.recordAs(this.deps.component, about, note);
  }

  /** The same recorder, under another component's name: each controller has its own, as the genuine ones do. */
  as(component: string): EventRecorder {
    return { record: (about, note) => this.recordAs(component, about, note) };
  }

  private recordAs(component: string, about: DeepReadonly<KubernetesObject>, note: EventNote): void {
    const series = this.correlator.observe(about, note, component);
    if (!series) return;
    series.isQueued = true;
    this.queue.push(series);
    if (this.queue.length > this.options.maxQueued) this.dropOldest();
    this.wakeWriter();
  }

  /**
   * Writes until aborted, then for `flushTimeoutMs` at most what still waits, each once, and resolves.
   * @throws IllegalStateError on a second call
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.hasRun) throw new IllegalStateError('the event recorder has been run before');
    this.hasRun = true;
    const writes = new AbortController();
    const deadline = this.abortAfterFlushTimeout(signal, writes);
    try {
      while (!writes.signal.aborted) {
        const series = this.queue.shift();
        if (series) await this.writeWithRetries(series, writes.signal, signal);
        else if (signal.aborted) break;
        else await this.waitForWork(signal);
      }
    } finally {
      deadline.cancel();
    }
    if (this.queue.length > 0) {
      this.deps.logger.warn('events were not written before the stop', { events: this.queue.length });
    }
  }

  private abortAfterFlushTimeout(signal: AbortSignal, writes: AbortController): { cancel(): void } {
    let timer: { cancel(): void } | undefined;
    const onStop = (): void => {
      const giveUp = (): void => writes.abort(new ShutdownError('the time to flush events is over'));
      timer = this.deps.clock.setTimeout(giveUp, this.options.flushTimeoutMs);
      this.wakeWriter();
    };
    if (signal.aborted) onStop();
    else signal.addEventListener('abort', onStop, { once: true });
    return {
      cancel: () => {
        signal.removeEventListener('abort', onStop);
        timer?.cancel();
      },
    };
  }

  private async waitForWork(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.wakeWriter = resolve;
      if (this.queue.length > 0 || signal.aborted) resolve();
    });
  }

  private async writeWithRetries(
    series: EventSeries,
    writes: AbortSignal,
    stopping: AbortSignal,
  ): Promise<void> {
    series.isQueued = false;
    const { retryBaseMs, retryMaxMs, maxAttempts } = this.options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.write(series, writes);
        return;
      } catch (error) {
        const { event } = series;
        const hopeless = isRefusal(error) || attempt >= maxAttempts || stopping.aborted;
        const fields = { event: event.metadata.name, reason: event.reason, error: errorMessage(error) };
        if (hopeless) {
          const level = isNamespaceTerminating(error) ? 'debug' : 'warn';
          this.deps.logger[level]('an event could not be written', fields);
          return;
        }
        const delayMs = Math.min(retryBaseMs * 2 ** (attempt - 1), retryMaxMs);
        await this.sleepUnlessStopping(jitter(delayMs, 0.5, this.deps.random), stopping);
      }
    }
  }

  /** Creates or counts on. An event that expired on the server begins anew. */
  private async write(series: EventSeries, signal: AbortSignal): Promise<void> {
    const { event } = series;
    if (series.isWritten) {
      try {
        await this.patch(event, signal);
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        const name = newEventName(event.involvedObject.name, this.deps.clock.now(), this.deps.random);
        series.event = { ...event, metadata: { ...event.metadata, name } };
        series.isWritten = false;
      }
    }
    await this.create(series, signal);
  }

  private async create(series: EventSeries, signal: AbortSignal): Promise<void> {
    try {
      await this.deps.client.create<EventObject>(EVENTS, structuredClone(series.event), { signal });
    } catch (error) {
      // An earlier attempt whose answer was lost.
      if (!isAlreadyExists(error)) throw error;
    }
    series.isWritten = true;
  }

  private async patch(event: EventObject, signal: AbortSignal): Promise<void> {
    const { namespace, name } = event.metadata;
    const { count, lastTimestamp, message } = event;
    const body = { count, lastTimestamp, message };
    await this.deps.client.patch(EVENTS, { namespace, name }, { type: 'merge', body }, { signal });
  }

  private async sleepUnlessStopping(delayMs: number, stopping: AbortSignal): Promise<void> {
    try {
      await this.deps.clock.sleep(delayMs, stopping);
    } catch (error) {
      if (!stopping.aborted) throw error;
    }
  }

  private dropOldest(): void {
    const oldest = this.queue.shift();
    if (!oldest) return;
    oldest.isQueued = false;
    this.dropped += 1;
    // The first, then every 100th: a flood of events must not become a flood of lines.
    if (this.dropped % 100 !== 1) return;
    this.deps.logger.warn('too many events wait to be written; the oldest are dropped', {
      dropped: this.dropped,
    });
  }
}

/** Whether the server answered, and would answer the same again. */
function isRefusal(error: unknown): boolean {
  const code = apiStatusOf(error)?.code;
  return code !== undefined && code < 500 && code !== 429;
}
