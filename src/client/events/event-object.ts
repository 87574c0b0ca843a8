import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { EventNames } from './event-names.js';
import type { EventNote, EventType } from './event-recorder.js';

/** The fields of `v1.Event` that we write. */
export interface EventObject extends KubernetesObject {
  involvedObject: {
    apiVersion: string;
    kind: string;
    namespace?: string;
    name: string;
    uid?: string;
    resourceVersion?: string;
  };
  type: EventType;
  reason: string;
  message: string;
  action?: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string; host?: string };
  reportingComponent: string;
  reportingInstance: string;
}

/** The recorder of an event. */
export interface EventSource {
  /** For example `rollkeeper`. */
  readonly component: string;
  /**
   * The node, if it matters, as for a kubelet.
   * @default none, as in Kubernetes' controllers: the recording machine says nothing about the object
   */
  readonly host?: string;
}

/** The namespace for events of cluster-scoped objects. */
const DEFAULT_NAMESPACE = 'default';

/** A first event about an object, with count 1. */
export function newEvent(input: {
  readonly about: DeepReadonly<KubernetesObject>;
  readonly note: EventNote;
  readonly message: string;
  readonly source: EventSource;
  readonly nowMs: number;
  readonly names: EventNames;
}): EventObject {
  const { about, names, note, message, source, nowMs } = input;
  const { namespace, name, uid, resourceVersion } = about.metadata;
  const time = toRfc3339(nowMs);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: names.next(name), namespace: namespace ?? DEFAULT_NAMESPACE },
    involvedObject: { apiVersion: about.apiVersion, kind: about.kind, namespace, name, uid, resourceVersion },
    type: note.type,
    reason: note.reason,
    message,
    ...(note.action !== undefined && { action: note.action }),
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component: source.component, ...(source.host !== undefined && { host: source.host }) },
    reportingComponent: source.component,
    reportingInstance: source.host ?? '',
  };
}
