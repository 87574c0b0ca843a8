import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { StoredText } from './object-text.js';
import { decodeObject, textAtRevision } from './object-text.js';
import type { Revision, StorageEvent, StorageKey } from './storage.js';

/** The log's entry of a write, or of an opening of the store. Each names the one before, so that a gap is noticed. */
interface ChainedEntry {
  readonly revision: Revision;
  /** Revisions between the two were never handed out, or are of writes that were lost. */
  readonly previousRevision: Revision;
  /** Unique to this entry: two histories that know it agree up to here. */
  readonly writeId: string;
  /** The id of the entry before this one; empty for the first. */
  readonly previousWriteId: string;
}

/** One write. */
export interface LoggedWrite extends ChainedEntry {
  readonly type: 'created' | 'updated' | 'deleted';
  readonly key: StorageKey;
  /** The state after the write; of a deletion the last state. */
  readonly text: string;
  /** The state before it; absent for a creation. */
  readonly previous?: StoredText;
}

/** The server of the store began a new life: the revision went ahead, and nothing was written. */
interface LoggedOpening extends ChainedEntry {
  readonly type: 'opened';
}

export type LogEntry = LoggedWrite | LoggedOpening;

/** Characters of JSON that an entry holds. */
export function lengthOf(entry: LogEntry): number {
  return entry.type === 'opened' ? 0 : entry.text.length + (entry.previous?.text.length ?? 0);
}

/** About as many characters as the event's object has; of one that comes from no log, a guess. */
export function lengthOfEvent(event: StorageEvent): number {
  return origins.get(event)?.text.length ?? SMALL;
}

const SMALL = 256;

export function isAbout(
  entry: LogEntry,
  scope: { resource: string; namespace?: string },
): entry is LoggedWrite {
  return (
    entry.type !== 'opened' &&
    entry.key.resource === scope.resource &&
    (scope.namespace === undefined || entry.key.namespace === scope.namespace)
  );
}

/**
 * The event of an entry, for one watcher. Objects are parsed when they are first looked at: most watchers never
 * look at `previous`.
 */
export function toStorageEvent(entry: LoggedWrite): StorageEvent {
  const event = makeEvent(entry);
  origins.set(event, entry);
  return event;
}

/** Identifies a write for all watchers of a process that see it from memory; a cache key. */
export function originOf(event: StorageEvent): LogEntry | undefined {
  return origins.get(event);
}

/** The object of an event as JSON; from the log's text, so that nothing is parsed where it is not needed. */
export function objectTextOf(event: Exclude<StorageEvent, { type: 'progress' }>): string {
  const origin = origins.get(event);
  return origin ? textAtRevision(origin) : stringifyJson(event.object);
}

const origins = new WeakMap<StorageEvent, LoggedWrite>();

function makeEvent(entry: LoggedWrite): StorageEvent {
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

function lazily(make: () => UnstructuredObject): () => UnstructuredObject {
  let made: UnstructuredObject | undefined;
  return () => (made ??= make());
}
