import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { EventObject, EventSource } from './event-object.js';
import { newEvent } from './event-object.js';
import type { EventNames } from './event-names.js';
import type { EventNote } from './event-recorder.js';
import type { CompiledEventRecorderOptions } from './event-recorder.options.js';
import { RecentMap } from './recent-map.js';
import type { Aggregated } from './similar-events.js';
import { COMBINED_PREFIX, SimilarEvents } from './similar-events.js';

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/**
 * A token bucket per object, so that one failing object cannot flood the API. (client-go:
 * `EventSourceObjectSpamFilter`)
 */
class EventSpamFilter {
  private readonly buckets: RecentMap<Bucket>;

  constructor(
    private readonly options: Pick<
      CompiledEventRecorderOptions,
      'burstPerObject' | 'refillEveryMs' | 'remembered'
    >,
  ) {
    this.buckets = new RecentMap(options.remembered);
  }

  /** Takes a token if there is one. @param nowMs by the monotonic clock */
  allows(objectKey: string, nowMs: number): boolean {
    const { burstPerObject, refillEveryMs } = this.options;
    const bucket = this.buckets.get(objectKey) ?? { tokens: burstPerObject, atMs: nowMs };
    const tokens = Math.min(burstPerObject, bucket.tokens + (nowMs - bucket.atMs) / refillEveryMs);
    const allowed = tokens >= 1;
    this.buckets.set(objectKey, { tokens: allowed ? tokens - 1 : tokens, atMs: nowMs });
    return allowed;
  }
}

/** One Event object, from its first occurrence. `isQueued` belongs to the queue, all that is optional to the writer. */
export interface EventSeries {
  /** Identifies it among the series of all recorders. */
  readonly key: string;
  /** The key of the series that similar ones are combined in. */
  readonly group: string;
  /** As it was at the last occurrence. Its count is set when it is written. */
  readonly event: EventObject;
  /** Occurrences that are not written yet. */
  unwritten: number;
  /** It is queued; further occurrences are written with it. */
  isQueued: boolean;
  /** Its occurrences are written with those of the combined series of its group. */
  isCombined?: boolean;
  /** It has the name under which all recorders write it. */
  isNamed?: boolean;
  /** The Event that the server has, as far as known. */
  stored?: StoredEvent;
  /** Writes whose answers have not come: one of them may have been carried out. */
  attempts: readonly AttemptedWrite[];
}

/** The state that a write of the next occurrences starts from. */
export interface StoredEvent {
  readonly count: number;
  /** Absent from servers that do not say it; the Event is then written regardless of what others wrote. */
  readonly resourceVersion?: string;
}

interface AttemptedWrite {
  readonly occurrences: number;
  /** The count of the Event if it was carried out. */
  readonly count: number;
  readonly lastTimestamp: string;
}

/**
 * Turns occurrences into Event objects: repeats increase the count, similar ones are combined, and an object with too
 * many is rate limited (client-go: `EventCorrelator`). Unlike there, an occurrence of a queued series takes no token,
 * because it causes no write.
 */
export class EventCorrelator {
  private readonly similar: SimilarEvents;
  private readonly spamFilter: EventSpamFilter;
  private readonly series: RecentMap<EventSeries>;

  constructor(
    private readonly source: EventSource,
    private readonly clock: Clock,
    private readonly names: EventNames,
    options: CompiledEventRecorderOptions,
  ) {
    this.similar = new SimilarEvents(options);
    this.spamFilter = new EventSpamFilter(options);
    this.series = new RecentMap(options.remembered);
  }

  /**
   * Counts an occurrence; returns the series if it has to be queued.
   * @param component the recorder, if not the source's own
   */
  observe(
    about: DeepReadonly<KubernetesObject>,
    note: EventNote,
    component = this.source.component,
  ): EventSeries | undefined {
    const objectKey = keyOfObject(component, about);
    const aggregated = this.similar.aggregate(objectKey, note, this.clock.monotonicNow());
    const { key, message } = aggregated;
    const series = this.count(key, message) ?? this.begin(aggregated, component, about, { ...note, message });
    if (series.isQueued || !this.spamFilter.allows(objectKey, this.clock.monotonicNow())) return undefined;
    return series;
  }

  /** The recorders together have too many series like this one: from now on, this one combines them too. */
  combine({ group }: EventSeries): void {
    this.similar.combine(group, this.clock.monotonicNow());
  }

  /** Moves the unwritten occurrences of a series to the combined ones of its group, which it returns. */
  moveToCombined(series: EventSeries): EventSeries {
    const { event, group, unwritten } = series;
    const combined = this.series.get(group) ?? this.beginCombined(series);
    series.unwritten = 0;
    combined.unwritten += unwritten;
    if (unwritten === 0 || event.lastTimestamp < combined.event.lastTimestamp) return combined;
    combined.event.lastTimestamp = event.lastTimestamp;
    combined.event.message = COMBINED_PREFIX + event.message;
    return combined;
  }

  private beginCombined({ event, group }: EventSeries): EventSeries {
    const own = { ...event, metadata: { ...event.metadata } };
    const series = { key: group, group, event: own, unwritten: 0, isQueued: false, attempts: [] };
    this.series.set(group, series);
    return series;
  }

  private count(key: string, message: string): EventSeries | undefined {
    const series = this.series.get(key);
    if (!series) return undefined;
    const { event } = series;
    series.unwritten += 1;
    event.lastTimestamp = toRfc3339(this.clock.now());
    event.message = message;
    return series;
  }

  private begin(
    { group, key }: Aggregated,
    component: string,
    about: DeepReadonly<KubernetesObject>,
    note: EventNote,
  ): EventSeries {
    const { names } = this;
    const { message } = note;
    const source = { ...this.source, component };
    const event = newEvent({ about, note, message, source, nowMs: this.clock.now(), names });
    const series = { key, group, event, unwritten: 1, isQueued: false, attempts: [] };
    this.series.set(key, series);
    return series;
  }
}

function keyOfObject(
  component: string,
  { apiVersion, kind, metadata }: DeepReadonly<KubernetesObject>,
): string {
  return JSON.stringify([component, apiVersion, kind, metadata.namespace, metadata.name, metadata.uid]);
}
