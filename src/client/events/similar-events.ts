import type { EventNote } from './event-recorder.js';
import type { CompiledEventRecorderOptions } from './event-recorder.options.js';
import { RecentMap } from './recent-map.js';

interface Group {
  readonly messages: Set<string>;
  /** Counting those of other recorders there are enough of them, so that each new message is combined. */
  isFull: boolean;
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
    group.lastMs = nowMs;
    this.groups.set(groupKey, group);
    if (hasOwnSeries(group, note.message, this.options.similarBeforeCombining)) {
      group.messages.add(note.message);
      return { key: JSON.stringify([groupKey, note.message]), message: note.message, group: groupKey };
    }
    return { key: groupKey, message: COMBINED_PREFIX + note.message, group: groupKey };
  }

  /** Combines each new message of this group, until none has come for a while. @param key of the group */
  combine(key: string, nowMs: number): void {
    const group = this.groupOf(key, nowMs);
    group.isFull = true;
    this.groups.set(key, group);
  }

  private groupOf(groupKey: string, nowMs: number): Group {
    const group = this.groups.get(groupKey);
    const isRecent = group !== undefined && nowMs - group.lastMs <= this.options.similarWithinMs;
    return isRecent ? group : { messages: new Set(), isFull: false, lastMs: nowMs };
  }
}

function hasOwnSeries({ isFull, messages }: Group, message: string, limit: number): boolean {
  return messages.has(message) || (!isFull && messages.size < limit - 1);
}
