import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { resourceVersionTooLarge } from '../../schema/errors/index.js';
import type { RegistryContext } from '../registry/index.js';
import type { ResourceCall } from './handler.js';
import { parseVersion, watchedFrom } from './list-options.js';

/** The state at which a watch begins. */
export interface WatchStart {
  /** Begin with what there is, each object as ADDED. */
  readonly initialEvents: boolean;
  /** Send a bookmark when the initial events are over: the client uses the watch as its list as well. */
  readonly markEnd: boolean;
  /** Without initial events: events after this revision. */
  readonly after: number;
}

/**
 * The state that `resourceVersion`, `resourceVersionMatch`, `sendInitialEvents` and `allowWatchBookmarks` ask for,
 * which have been checked.
 * @throws StatusError 504 for a version that the store has not reached
 */
export async function watchStart(context: RegistryContext, query: URLSearchParams): Promise<WatchStart> {
  const version = parseVersion(query, 'other') ?? 0;
  const { sendsInitial } = watchedFrom(query);
  if (sendsInitial === undefined) return { initialEvents: version === 0, markEnd: false, after: version };
  const markEnd = sendsInitial && isTrue(query.get('allowWatchBookmarks'));
  // Any version: the list itself says which one it has.
  if (sendsInitial && version === 0) return { initialEvents: true, markEnd, after: 0 };
  const current = await context.storage.currentRevision();
  if (version > current) throw resourceVersionTooLarge(version, current);
  return { initialEvents: sendsInitial, markEnd, after: version === 0 ? current : version };
}

function isTrue(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}

/** An empty object that carries the watch's resourceVersion. */
export function bookmark({ kind }: ResourceCall, revision: number): UnstructuredObject {
  const { annotationsOfEmpty: annotations, type } = kind;
  const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
  return { kind: type.kind, apiVersion: apiVersionOf(type), metadata: metadata as never };
}

/** The bookmark behind the initial events. */
export function initialEventsEnd(call: ResourceCall, revision: number): UnstructuredObject {
  const mark = bookmark(call, revision);
  mark.metadata.annotations = { ...mark.metadata.annotations, 'k8s.io/initial-events-end': 'true' };
  return mark;
}
