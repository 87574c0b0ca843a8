import type { ApiClient } from '../api-client/api-client.js';
import {
  apiStatusOf,
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
} from '../api-client/api-status-error.js';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { doublingDelayMs, jitter, pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { EVENTS } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { EventSeries } from './event-correlator.js';
import type { EventObject } from './event-object.js';
import type { EventNames } from './event-names.js';
import type { CompiledEventRecorderOptions } from './event-recorder.options.js';

export interface EventWriterDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** Limits for writing an event. */
export interface WriteLimits {
  /** Aborted: one more attempt each. */
  readonly stopping: AbortSignal;
  /** Aborted: no more attempts. */
  readonly giveUp: AbortSignal;
}

/** Writes one event to the API, with retries. */
export class EventWriter {
  constructor(
    private readonly deps: EventWriterDependencies,
    private readonly names: EventNames,
    private readonly options: Pick<
      CompiledEventRecorderOptions,
      'retryBaseMs' | 'retryMaxMs' | 'maxAttempts'
    >,
  ) {}

  /** Returns whether it was written; a failure is logged. Never rejects. */
  async write(series: EventSeries, { giveUp, stopping }: WriteLimits): Promise<boolean> {
    const { maxAttempts, retryBaseMs, retryMaxMs } = this.options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.send(series, giveUp);
        return true;
      } catch (error) {
        if (isRefusal(error) || attempt >= maxAttempts || stopping.aborted) {
          this.tellFailure(series.event, error);
          return false;
        }
        const delayMs = doublingDelayMs(attempt - 1, { firstMs: retryBaseMs, longestMs: retryMaxMs });
        // A stop ends the wait, not the event.
        await pause(this.deps.clock, jitter(delayMs, 0.5, this.deps.random), stopping);
      }
    }
  }

  private tellFailure(event: EventObject, error: unknown): void {
    const level = isNamespaceTerminating(error) ? 'debug' : 'warn';
    const fields = { event: event.metadata.name, reason: event.reason, error: errorMessage(error) };
    this.deps.logger[level]('an event could not be written', fields);
  }

  /** Creates the event or updates its count. One that expired on the server is created again. */
  private async send(series: EventSeries, signal: AbortSignal): Promise<void> {
    const { event } = series;
    if (series.isWritten) {
      try {
        await this.patch(event, signal);
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        const name = this.names.next(event.involvedObject.name);
        series.event = { ...event, metadata: { ...event.metadata, name } };
        series.isWritten = false;
      }
    }
    await this.create(series, signal);
  }

  private async create(series: EventSeries, signal: AbortSignal): Promise<void> {
    try {
      // A copy, because the series may change during the write.
      await this.deps.client.create<EventObject>(EVENTS, { ...series.event }, { signal });
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
}

/** Whether the server answered, and would answer the same again. */
function isRefusal(error: unknown): boolean {
  const code = apiStatusOf(error)?.code;
  return code !== undefined && code < 500 && code !== 429;
}
