import { objectTextOf, originOf } from '../storage/index.js';
import type { StorageEvent } from '../storage/index.js';

/** How many events are kept for watchers that come to them a little later. */
const KEPT = 64;

/** An event of the store as all its watchers share it. Nobody may change its objects. */
export class SharedEvent {
  private readonly lines = new Map<string, string>();

  constructor(readonly event: StorageEvent) {}

  /** The event with its own object as it goes over the wire, encoded when the first watcher needs it. */
  line(type: string): string {
    if (this.event.type === 'progress') throw new Error('the progress of a watch has no object');
    let line = this.lines.get(type);
    if (line === undefined) {
      line = `{"type":"${type}","object":${objectTextOf(this.event)}}\n`;
      this.lines.set(type, line);
    }
    return line;
  }
}

/**
 * Lets the watchers of a process share their work: what happens is parsed and encoded once, not once for each of them.
 * They read the same end of the log at nearly the same time, so few events need to be kept.
 */
export class SharedEvents {
  private readonly recent = new Map<object, SharedEvent>();

  of(event: StorageEvent): SharedEvent {
    const origin = originOf(event);
    if (!origin) return new SharedEvent(event);
    const known = this.recent.get(origin);
    if (known) return known;
    const shared = new SharedEvent(event);
    this.recent.set(origin, shared);
    if (this.recent.size > KEPT) this.recent.delete(this.recent.keys().next().value as object);
    return shared;
  }
}
