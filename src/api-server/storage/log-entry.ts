import { stringifyJson } from '../../kubernetes/index.js';
import type { KubernetesObject } from '../../kubernetes/index.js';
import type { StoredText } from './object-text.js';
import { decodeObject, textAtRevision } from './object-text.js';
import type { Revision, StorageEvent, StorageKey } from './storage.js';

/** One write. There is exactly one entry for each revision, so a missing number is a gap. */
export interface LogEntry {
  readonly type: 'created' | 'updated' | 'deleted';
  readonly key: StorageKey;
  readonly revision: Revision;
  /** The state after the write; of a deletion the last state. */
  readonly text: string;
  /** The state before it; absent for a creation. */
  readonly previous?: StoredText;
  /** Unique to this write: two histories that know it agree up to here. */
  readonly writeId: string;
  /** Of the write before this one; empty for the first. Chains the log, so that another history is noticed. */
  readonly previousWriteId: string;
}

/** Characters of JSON that an entry holds. */
export function lengthOf({ previous, text }: LogEntry): number {
  return text.length + (previous?.text.length ?? 0);
}

/** About as many characters as the event's object has; of one that comes from no log, a guess. */
export function lengthOfEvent(event: StorageEvent): number {
  return origins.get(event)?.text.length ?? SMALL;
}

const SMALL = 256;

export function isAbout(entry: LogEntry, scope: { resource: string; namespace?: string }): boolean {
  return (
    entry.key.resource === scope.resource &&
    (scope.namespace === undefined || entry.key.namespace === scope.namespace)
  );
}

/**
 * The event of an entry, for one watcher. Objects are parsed when they are first looked at: most watchers never
 * look at `previous`.
 */
export function toStorageEvent(entry: LogEntry): StorageEvent {
  const event = makeEvent(entry);
  origins.set(event, entry);
  return event;
}

/** What is the same for all watchers of a process that are told of one write from memory; a key for caches. */
export function originOf(event: StorageEvent): LogEntry | undefined {
  return origins.get(event);
}

/** The object of an event as JSON; from the log's text, so that nothing is parsed where it is not needed. */
export function objectTextOf(event: Exclude<StorageEvent, { type: 'progress' }>): string {
  const origin = origins.get(event);
  return origin ? textAtRevision(origin) : stringifyJson(event.object);
}

const origins = new WeakMap<StorageEvent, LogEntry>();

function makeEvent(entry: LogEntry): StorageEvent {
  const { type, key, revision, text, previous } = entry;
  const object = lazily(() => decodeObject({ text, revision }));
  if (type === 'created' || !previous) {
    return {
      type: 'created',
      key,
      revision,
      get object() {
        return object();
      },
    };
  }
  const before = lazily(() => decodeObject(previous));
  return {
    type,
    key,
    revision,
    get object() {
      return object();
    },
    get previous() {
      return before();
    },
  };
}

function lazily(make: () => KubernetesObject): () => KubernetesObject {
  let made: KubernetesObject | undefined;
  return () => (made ??= make());
}
