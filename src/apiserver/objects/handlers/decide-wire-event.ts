import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { Selection } from '../../kinds/selectors/index.js';
import type { StorageEvent } from '../../storage/index.js';
import type { ResourceCall } from './handler.js';
import { bookmark } from './watch-start.js';

/** An event as a watcher reads it. */
export interface WireEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: object;
}

/**
 * Translates a change for a client with a selection: an object that enters the selection was ADDED, one that leaves it
 * DELETED (with its new resourceVersion and its old content, as in the watch cache).
 */
export function decideWireEvent(
  event: StorageEvent,
  selection: Selection,
  bookmarksFor: ResourceCall | undefined,
): { readonly type: WireEvent['type']; readonly object: UnstructuredObject } | undefined {
  if (event.type === 'progress') {
    return bookmarksFor && { type: 'BOOKMARK', object: bookmark(bookmarksFor, event.revision) };
  }
  const { object } = event;
  if (event.type === 'created') return selection.matches(object) ? { type: 'ADDED', object } : undefined;
  if (event.type === 'deleted') return selection.matches(object) ? { type: 'DELETED', object } : undefined;
  if (selection.all) return { type: 'MODIFIED', object };
  const was = selection.matches(event.previous);
  const is = selection.matches(object);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object };
  return was ? { type: 'DELETED', object: withVersion(event.previous, event.revision) } : undefined;
}

function withVersion(object: KubernetesObject, revision: number): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
