import type { ApiClient } from '../api-client/api-client.js';
import {
  apiStatusOf,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
} from '../api-client/api-status-error.js';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { doublingDelayMs, jitter, pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { untyped, Event } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { EventCorrelator, EventSeries, StoredEvent } from './event-correlator.js';
import type { EventLedger } from './event-ledger.js';
import type { EventObject } from './event-object.js';
import type { CompiledEventRecorderOptions } from './event-recorder.options.js';

interface EventWriterDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** @default none: every recorder counts for itself */
  readonly ledger?: EventLedger;
}

/** Limits for writing an event. */
export interface WriteLimits {
  /** Aborted: one more attempt each. */
  readonly stopping: AbortSignal;
  /** Aborted: no more attempts. */
  readonly giveUp: AbortSignal;
}

/** How often one attempt counts on top of what others have written meanwhile. */
const MOST_OVERTAKEN = 3;

/**
 * Writes one event to the API, with retries. Recorders that share a ledger write equal events to one Event object, and
 * each adds its occurrences to the count that the server has.
 */
export class EventWriter {
  constructor(
    private readonly deps: EventWriterDependencies,
    private readonly correlator: Pick<EventCorrelator, 'combine' | 'moveToCombined'>,
    private readonly options: Pick<
      CompiledEventRecorderOptions,
      'retryBaseMs' | 'retryMaxMs' | 'maxAttempts' | 'similarBeforeCombining' | 'similarWithinMs'
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

  /** Creates the event or raises its count. One that expired on the server is created again. */
  private async send(recorded: EventSeries, signal: AbortSignal): Promise<void> {
    const series = await this.named(recorded, signal);
    for (let overtaken = 0; series.unwritten > 0;) {
      try {
        await this.add(series, signal);
      } catch (error) {
        if (series.stored && isNotFound(error)) forgetStored(series);
        else if (isOvertaken(error) && overtaken++ < MOST_OVERTAKEN) await this.read(series, signal);
        else throw error;
      }
    }
  }

  /** The series under the name that all recorders write it; the combined ones of its group, if it is one of them. */
  private async named(series: EventSeries, signal: AbortSignal): Promise<EventSeries> {
    if (!series.isNamed) await this.name(series, signal);
    if (!series.isCombined) return series;
    const combined = this.correlator.moveToCombined(series);
    if (!combined.isNamed) await this.name(combined, signal);
    return combined;
  }

  /** Another recorder may have begun the series. Without an answer from the ledger it is one of ours alone. */
  private async name(series: EventSeries, signal: AbortSignal): Promise<void> {
    const { metadata } = series.event;
    const name = await this.sharedName(series).catch(() => undefined);
    // Before the read, which may fail: a retry must not propose the name of another recorder as its own.
    series.isNamed = true;
    if (series.isCombined || name === undefined || name === metadata.name) return;
    metadata.name = name;
    await this.read(series, signal);
  }

  /** The name of its Event; undefined if it has none of its own. */
  private async sharedName(series: EventSeries): Promise<string | undefined> {
    const { correlator, options } = this;
    const { ledger } = this.deps;
    const { event, group, key } = series;
    if (!ledger) return undefined;
    const isOfGroup = key !== group;
    const within = isOfGroup ? { group, forgottenAfterMs: options.similarWithinMs } : undefined;
    const own = await ledger.nameOf(key, event.metadata.name, within);
    if (own !== 'combined') {
      if (!isOfGroup || !own.isNew || own.similar < options.similarBeforeCombining) return own.name;
      await ledger.combine(key);
    }
    if (!isOfGroup) return undefined;
    series.isCombined = true;
    correlator.combine(series);
    return undefined;
  }

  /** Adds the unwritten occurrences to what the server has, unless others have written since. */
  private async add(series: EventSeries, signal: AbortSignal): Promise<void> {
    const { attempts, event, stored, unwritten: occurrences } = series;
    const count = (stored?.count ?? 0) + occurrences;
    const { lastTimestamp } = event;
    series.attempts = [...attempts, { occurrences, count, lastTimestamp }];
    try {
      const written = await (stored
        ? this.patch(event, { ...stored, count }, signal)
        : this.create(event, count, signal));
      series.stored = { count, resourceVersion: written.metadata.resourceVersion };
      series.unwritten -= occurrences;
      series.attempts = [];
    } catch (error) {
      if (isAnswer(error)) series.attempts = attempts;
      throw error;
    }
  }

  /** Learns what the server has. A patch without content needs no right to read. */
  private async read(series: EventSeries, signal: AbortSignal): Promise<void> {
    const { name, namespace } = series.event.metadata;
    const nothing = { type: 'merge', body: {} } as const;
    try {
      const found = await this.deps.client.patch<EventObject>(untyped(Event), { namespace, name }, nothing, {
        signal,
      });
      const { count, lastTimestamp, metadata } = found;
      const own = series.attempts.find(
        (each) => each.count === count && each.lastTimestamp === lastTimestamp,
      );
      series.unwritten -= own?.occurrences ?? 0;
      series.stored = { count, resourceVersion: metadata.resourceVersion };
    } catch (error) {
      if (!isNotFound(error)) throw error;
      forgetStored(series);
    }
    series.attempts = [];
  }

  private create(event: EventObject, count: number, signal: AbortSignal): Promise<EventObject> {
    return this.deps.client.create<EventObject>(untyped(Event), { ...event, count }, { signal });
  }

  private patch(event: EventObject, to: StoredEvent, signal: AbortSignal): Promise<EventObject> {
    const { lastTimestamp, message, metadata } = event;
    const { count, resourceVersion } = to;
    const body = {
      ...(resourceVersion !== undefined && { metadata: { resourceVersion } }),
      count,
      lastTimestamp,
      message,
    };
    const { name, namespace } = metadata;
    return this.deps.client.patch<EventObject>(
      untyped(Event),
      { namespace, name },
      { type: 'merge', body },
      { signal },
    );
  }
}

/** The Event has expired. A new one goes on counting. */
function forgetStored(series: EventSeries): void {
  series.unwritten += series.stored?.count ?? 0;
  series.stored = undefined;
}

/** Someone else has created or changed it, or an earlier attempt of ours whose answer was lost. */
function isOvertaken(error: unknown): boolean {
  return isAlreadyExists(error) || isConflict(error);
}

/** Whether the server has answered that it did nothing. */
function isAnswer(error: unknown): boolean {
  return (apiStatusOf(error)?.code ?? 500) < 500;
}

/** Whether the server answered, and would answer the same again. */
function isRefusal(error: unknown): boolean {
  const code = apiStatusOf(error)?.code;
  return code !== undefined && code < 500 && code !== 429 && !isOvertaken(error);
}
