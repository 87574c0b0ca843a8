import type { EventNote } from './event-recorder.js';
import type { CompiledEventRecorderOptions } from './event-recorder.options.js';
import { RecentMap } from './recent-map.js';

interface Group {
  readonly messages: Set<string>;
  lastMs: number;
}

/** The key under which an event is counted, and the message to show. */
export interface Aggregated {
  readonly key: string;
  readonly message: string;
  /** Shared by events that only differ in their messages; the key of those that are combined. */
  readonly group: string;
}

export const COMBINED_PREFIX = '(combined from similar events): ';

/**
 * Combines events that only differ in their messages ("Created pod: a", "Created pod: b" …) once there are many, so
 * that 500 pods do not make 500 events. (Behaviour of client-go's `EventAggregator`.)
 */
export class SimilarEvents {
  private readonly groups: RecentMap<Group>;

  constructor(
    private readonly options: Pick<
      CompiledEventRecorderOptions,
      'similarBeforeCombining' | 'similarWithinMs' | 'remembered'
    >,
  ) {
    this.groups = new RecentMap(options.remembered);
  }

  /** @param objectKey identifies recorder and object */
  aggregate(objectKey: string, note: EventNote, nowMs: number): Aggregated {
    const groupKey = JSON.stringify([objectKey, note.type, note.reason]);
    const group = this.groupOf(groupKey, nowMs);
    group.messages.add(note.message);
    group.lastMs = nowMs;
    this.groups.set(groupKey, group);
    if (group.messages.size < this.options.similarBeforeCombining) {
      return { key: JSON.stringify([groupKey, note.message]), message: note.message, group: groupKey };
    }
    // Stays one below the limit, so that every further message is combined as well.
    const [first = ''] = group.messages;
    group.messages.delete(first);
    return { key: groupKey, message: COMBINED_PREFIX + note.message, group: groupKey };
  }

  private groupOf(groupKey: string, nowMs: number): Group {
    const group = this.groups.get(groupKey);
    const isRecent = group !== undefined && nowMs - group.lastMs <= this.options.similarWithinMs;
    return isRecent ? group : { messages: new Set(), lastMs: nowMs };
  }
}
