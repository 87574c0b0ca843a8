import type { EventSeries } from './event-correlator.js';
import type { EventObject } from './event-object.js';

interface Lane {
  readonly object: string;
  readonly waiting: EventSeries[];
  /** One of its series is being written. */
  isBusy: boolean;
}

/**
 * A bounded queue of series to write. At most one series per object is out at a time, in insertion order; objects do
 * not wait for each other.
 */
export class EventQueue {
  /** The waiting series of all objects, oldest first. */
  private readonly waiting = new Set<EventSeries>();
  private readonly lanes = new Map<string, Lane>();
  /** Lanes with something to write, longest waiting first. */
  private readonly ready = new Set<Lane>();

  constructor(private readonly maxQueued: number) {}

  get size(): number {
    return this.waiting.size;
  }

  /** Returns whether the oldest series was dropped. */
  add(series: EventSeries): { dropped: boolean } {
    const lane = this.laneOf(series);
    series.isQueued = true;
    lane.waiting.push(series);
    this.waiting.add(series);
    if (!lane.isBusy) this.ready.add(lane);
    if (this.waiting.size <= this.maxQueued) return { dropped: false };
    this.dropOldest();
    return { dropped: true };
  }

  /** The next series to write, undefined if there is none. Call {@link done} when it is written. */
  take(): EventSeries | undefined {
    const [lane] = this.ready;
    const series = lane?.waiting.shift();
    if (!lane || !series) return undefined;
    this.ready.delete(lane);
    lane.isBusy = true;
    this.forget(series);
    return series;
  }

  done(series: EventSeries): void {
    const lane = this.laneOf(series);
    lane.isBusy = false;
    if (lane.waiting.length > 0) this.ready.add(lane);
    else this.lanes.delete(lane.object);
  }

  private dropOldest(): void {
    const [oldest] = this.waiting;
    if (!oldest) return;
    this.forget(oldest);
    const lane = this.laneOf(oldest);
    // The oldest of all is also the oldest of its object.
    lane.waiting.shift();
    if (lane.waiting.length > 0) return;
    this.ready.delete(lane);
    if (!lane.isBusy) this.lanes.delete(lane.object);
  }

  private forget(series: EventSeries): void {
    this.waiting.delete(series);
    series.isQueued = false;
  }

  private laneOf({ event }: EventSeries): Lane {
    const object = objectOf(event);
    const known = this.lanes.get(object);
    if (known) return known;
    const lane = { object, waiting: [], isBusy: false };
    this.lanes.set(object, lane);
    return lane;
  }
}

/** Regardless of the recorder: events of two components about one object also stay in order. */
function objectOf({ involvedObject: { kind, name, namespace, uid } }: EventObject): string {
  return uid ?? JSON.stringify([kind, namespace, name]);
}
